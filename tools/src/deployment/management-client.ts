import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The result of a call: its status, or the reason why there is none. */
export type Reply = Answer | { readonly status: null; readonly reason: string };

export interface Answer {
  readonly status: number;
  readonly revision: number;
  /** The two numbers of `X-Config-Applied`; null if the header is missing. */
  readonly applied: number | null;
  readonly total: number | null;
  readonly text: string;
}

/** Upper bound of any response, including the pauses that the suite makes. */
const RESPONSE_DEADLINE_MS = 120_000;

/** Calls one replica of the management API, as a back office does. */
export class ManagementClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(
    private readonly port: number,
    private readonly token: string,
  ) {}

  call(method: string, path: string, body?: unknown): Promise<Reply> {
    return this.send(method, path, (sent) =>
      sent.end(body === undefined ? undefined : JSON.stringify(body)),
    );
  }

  /** A call that must succeed. */
  async change(method: string, path: string, body: unknown): Promise<Answer> {
    return successOf(`${method} ${path}`, await this.call(method, path, body));
  }

  /** The same with a body whose text is sent piece by piece. */
  async upload(method: string, path: string, text: Iterable<string>): Promise<Answer> {
    const reply = await this.send(method, path, (sent) => {
      // An error is one of the call, too.
      pipeline(Readable.from(text), sent).catch(() => undefined);
    });
    return successOf(`${method} ${path}`, reply);
  }

  private send(method: string, path: string, write: (sent: ClientRequest) => void): Promise<Reply> {
    return new Promise((resolve) => {
      const fail = (error: Error): void => {
        resolve({ status: null, reason: error.message });
      };
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.port,
          method,
          path,
          agent: this.agent,
          timeout: RESPONSE_DEADLINE_MS,
          headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
        },
        (response) => {
          readReply(response).then(resolve, fail);
        },
      );
      sent.on('error', fail);
      sent.on('timeout', () =>
        sent.destroy(new Error(`no answer within ${RESPONSE_DEADLINE_MS} ms`)),
      );
      write(sent);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

async function readReply(response: IncomingMessage): Promise<Reply> {
  const chunks = await Array.fromAsync(response as AsyncIterable<Buffer>);
  const [applied, total] = String(response.headers['x-config-applied'] ?? '').split('/');
  return {
    status: response.statusCode ?? 0,
    revision: Number(response.headers['x-config-revision'] ?? Number.NaN),
    applied: total === undefined ? null : Number(applied),
    total: total === undefined ? null : Number(total),
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

function successOf(call: string, reply: Reply): Answer {
  if (reply.status !== null && reply.status < 300) return reply;
  throw new Error(`${call}: ${JSON.stringify(reply)}`);
}
