import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** The header `X-Config-Applied`; empty if there is none. */
  readonly applied: string;
}

/**
 * One client of the management API on one connection, one request at a time. It does so little that many of them take
 * little of the processor that they share with what is measured.
 */
export class RawClient {
  private readonly socket: Socket;
  private received = '';
  private waiting: ((answer: RawAnswer) => void) | null = null;

  constructor(
    url: string,
    private readonly token: string,
  ) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname).setNoDelay(true);
    this.socket.setEncoding('latin1').on('data', (text: string) => this.receive(text));
  }

  /** @throws Error when the status is not 2xx. */
  async send(method: string, path: string, body: unknown): Promise<RawAnswer> {
    const text = JSON.stringify(body);
    this.socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${this.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    const answer = await new Promise<RawAnswer>((resolve) => {
      this.waiting = resolve;
    });
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}`);
    return answer;
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(text: string): void {
    this.received += text;
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.received)?.[1] ?? 0);
    if (this.received.length < end + 4 + length) return;
    const applied = /\r\nx-config-applied: (\S+)/i.exec(this.received)?.[1] ?? '';
    const answer = { status: Number(this.received.slice(9, 12)), applied };
    this.received = '';
    this.waiting?.(answer);
  }
}
