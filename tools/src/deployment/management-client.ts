import { Agent, type IncomingMessage, request } from 'node:http';

/** The result of a call: its status, or the reason why there is none. */
export type Reply =
  | {
      readonly status: number;
      readonly revision: number;
      /** The two numbers of `X-Config-Applied`; null if the header is missing. */
      readonly applied: number | null;
      readonly total: number | null;
      readonly text: string;
    }
  | { readonly status: null; readonly reason: string };

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
      sent.end(body === undefined ? undefined : JSON.stringify(body));
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
