import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasToken } from './bearer-tokens.js';

const MAX_BODY_BYTES = 4096;

/**
 * A call that is refused. The message is for the operator and repeats nothing of the input. Thrown by a call itself:
 * the body is JSON, but not what the call takes.
 */
export class OpsCallError extends Error {
  override readonly name = 'OpsCallError';

  constructor(
    message: string,
    readonly status = 422,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export interface OpsCall {
  readonly method: 'GET' | 'POST';
  /**
   * @param body the parsed JSON body of a POST; undefined for a GET
   * @returns what is answered, as JSON
   * @throws OpsCallError
   */
  readonly run: (body: unknown) => unknown;
}

/**
 * Calls on the ops port that change something, or tell more than metrics. They need a bearer token of `OPS_TOKENS`;
 * without that variable they are off. JSON in, JSON out. An error is `{"detail":"…"}`.
 */
export class OpsCalls {
  /** @param calls by path */
  constructor(
    private readonly tokens: readonly string[] | undefined,
    private readonly calls: Readonly<Record<string, OpsCall>>,
  ) {}

  /** @returns false: the path is not that of a call */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (!Object.hasOwn(this.calls, path)) return false;
    try {
      send(response, 200, await this.run(this.calls[path], request));
    } catch (error) {
      if (!(error instanceof OpsCallError)) throw error;
      const { status, headers, message } = error;
      send(response, status, { detail: message }, headers);
    }
    return true;
  }

  private async run({ method, run }: OpsCall, request: IncomingMessage): Promise<unknown> {
    if (this.tokens === undefined)
      throw new OpsCallError('this call is off; OPS_TOKENS turns it on', 403);
    if (!hasToken(request.headers.authorization, this.tokens)) {
      const message = 'the header Authorization needs Bearer and a token of OPS_TOKENS';
      throw new OpsCallError(message, 401, { 'WWW-Authenticate': 'Bearer' });
    }
    if (request.method !== method) {
      throw new OpsCallError(`the method must be ${method}`, 405, { Allow: method });
    }
    return run(method === 'GET' ? undefined : parseJson(await readBody(request)));
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The socket is still needed for the answer to a body that is too long.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const piece = chunk as Buffer;
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) {
      const message = `the body must have at most ${MAX_BODY_BYTES} bytes`;
      throw new OpsCallError(message, 413, { Connection: 'close' });
    }
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OpsCallError('the body must be JSON', 400);
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { ...headers, 'Content-Type': 'application/json' })
    .end(`${JSON.stringify(body)}\n`);
}
