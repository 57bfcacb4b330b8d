import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';

/** Calls the management API over persistent connections. */
export class ApiClient {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(
    private readonly baseUrl: string,
    private readonly token: string,
  ) {}

  async get(path: string): Promise<void> {
    await this.send('GET', path, []);
  }

  /**
   * @returns the header `X-Config-Applied`.
   * @throws Error when the status is not 2xx.
   */
  async sendJson(method: string, path: string, body: unknown): Promise<{ applied: string }> {
    const { status, applied } = await this.send(method, path, [JSON.stringify(body)]);
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}`);
    return { applied };
  }

  /** Sends a body in chunks and reads the answer to its end. */
  async send(
    method: string,
    path: string,
    pieces: Iterable<string>,
  ): Promise<{ status: number; applied: string; bytes: number }> {
    let bytes = 0;
    const counted = function* (): Generator<Buffer> {
      for (const piece of pieces) {
        const buffer = Buffer.from(piece);
        bytes += buffer.length;
        yield buffer;
      }
    };
    const outgoing = request(`${this.baseUrl}${path}`, {
      method,
      agent: this.agent,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).once('error', reject);
    });
    if (method === 'GET') outgoing.end();
    else await pipeline(Readable.from(counted()), outgoing);
    const response = await answered;
    response.resume();
    await finished(response, { writable: false });
    const applied = String(response.headers['x-config-applied'] ?? '');
    return { status: response.statusCode ?? 0, applied, bytes };
  }

  /** Reads a long answer. @returns the times of its first and of its last byte. */
  async drain(path: string): Promise<{ firstByteMs: number; totalMs: number; bytes: number }> {
    const startedMs = performance.now();
    const response = await fetch(`${this.baseUrl}${path}`, {
      headers: { Authorization: `Bearer ${this.token}` },
    });
    let firstByteMs = Number.NaN;
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      if (bytes === 0) firstByteMs = performance.now() - startedMs;
      bytes += chunk.length;
    }
    return { firstByteMs, totalMs: performance.now() - startedMs, bytes };
  }
}
