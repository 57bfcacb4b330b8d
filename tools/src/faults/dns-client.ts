import { createSocket, type Socket } from 'node:dgram';
import { encodeQuery, readAnswer } from './dns-message.js';

/** What became of a query: what was answered, or null when nothing was; how often it was sent again. */
export interface Outcome {
  readonly seen: string | null;
  readonly retries: number;
}

interface Open {
  readonly settle: (seen: string | null) => void;
}

/** An ordinary client waits this long, asks once more, and waits again. */
const WAIT_MS = 1_000;

/** Asks over UDP from any loopback address, so that one process stands for many subscribers. */
export class DnsClient {
  private readonly sockets = new Map<string, Promise<Socket>>();
  private readonly open = new Map<number, Open>();
  private lastId = 0;

  async ask(source: string, port: number, qname: string): Promise<Outcome> {
    const socket = await this.socketOf(source);
    const id = this.freeId();
    const query = encodeQuery(id, qname);
    const first = await this.sendOnce(socket, port, id, query);
    if (first !== null) return { seen: first, retries: 0 };
    return { seen: await this.sendOnce(socket, port, id, query), retries: 1 };
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.values()) (await socket).close();
  }

  private sendOnce(
    socket: Socket,
    port: number,
    id: number,
    query: Buffer,
  ): Promise<string | null> {
    return new Promise((resolve) => {
      const settle = (seen: string | null): void => {
        clearTimeout(timer);
        this.open.delete(id);
        resolve(seen);
      };
      // The answer may lie in the socket of a process that was too busy to read it: look there first.
      const timer = setTimeout(() => setTimeout(() => setImmediate(settle, null), 5), WAIT_MS);
      this.open.set(id, { settle });
      socket.send(query, port, '127.0.0.1');
    });
  }

  private freeId(): number {
    do this.lastId = (this.lastId + 1) & 0xffff;
    while (this.open.has(this.lastId));
    return this.lastId;
  }

  private socketOf(source: string): Promise<Socket> {
    const made = this.sockets.get(source) ?? bind(source);
    if (!this.sockets.has(source)) {
      this.sockets.set(source, made);
      void made.then((socket) =>
        socket.on('message', (answer) => {
          this.open.get(answer.readUInt16BE(0))?.settle(readAnswer(answer));
        }),
      );
    }
    return made;
  }
}

async function bind(address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject).bind(0, address, resolve);
  });
  // A port that nobody listens on is no more than a query without an answer.
  socket.on('error', () => undefined);
  return socket;
}
