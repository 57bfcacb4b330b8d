import { Readable } from 'node:stream';
import { Pool } from 'undici';

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

/** Of any response, including the pauses that the suite makes. */
const TIMEOUTS = { headersTimeout: 120_000, bodyTimeout: 120_000 };

/** Calls one replica of the management API, as a back office does. */
export class ManagementClient implements Disposable {
  private readonly pool: Pool;

  constructor(
    private readonly port: number,
    private readonly token: string,
  ) {
    this.pool = this.connect();
  }

  /** @param body what becomes JSON, or a stream of it */
  async call(method: string, path: string, body?: unknown, pool = this.pool): Promise<Reply> {
    const authorization = `Bearer ${this.token}`;
    const isJson = body !== undefined && { 'content-type': 'application/json' };
    const text = body === undefined || body instanceof Readable ? body : JSON.stringify(body);
    try {
      const headers = { authorization, ...isJson };
      const response = await pool.request({ method, path, headers, body: text ?? null });
      const [applied, total] = String(response.headers['x-config-applied'] ?? '').split('/');
      return {
        status: response.statusCode,
        revision: Number(response.headers['x-config-revision'] ?? Number.NaN),
        applied: total === undefined ? null : Number(applied),
        total: total === undefined ? null : Number(total),
        text: await response.body.text(),
      };
    } catch (error) {
      return { status: null, reason: (error as Error).message };
    }
  }

  /** A call that must succeed. */
  async change(method: string, path: string, body: unknown): Promise<Answer> {
    return successOf(`${method} ${path}`, await this.call(method, path, body));
  }

  /** The same with a body whose text is sent piece by piece, on a connection of its own: it cannot be sent again. */
  async upload(method: string, path: string, text: Iterable<string>): Promise<Answer> {
    const pool = this.connect();
    try {
      const reply = await this.call(method, path, Readable.from(text), pool);
      return successOf(`${method} ${path}`, reply);
    } finally {
      await pool.destroy();
    }
  }

  [Symbol.dispose](): void {
    void this.pool.destroy();
  }

  private connect(): Pool {
    return new Pool(`http://127.0.0.1:${this.port}`, TIMEOUTS);
  }
}

function successOf(call: string, reply: Reply): Answer {
  if (reply.status !== null && reply.status < 300) return reply;
  throw new Error(`${call}: ${JSON.stringify(reply)}`);
}
