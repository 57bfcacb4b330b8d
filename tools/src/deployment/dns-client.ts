import { addressRdata } from '@weir/policy/answers';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { encodeQuery, proxyHeader, readAnswer } from './dns-message.js';

/** The result of a query: the answer as text, or null if there was none, and the number of retries. */
interface Outcome {
  readonly seen: string | null;
  readonly retries: number;
}

/** Of IPv6 subscribers. */
const SOURCE_PORT = 40_000;
/** Timeout of each attempt, unless another one is given. There are two attempts, as with an ordinary client. */
const WAIT_MS = 1_000;

/** A load balancer with the PROXY protocol asks for IPv6 subscribers: loopback has only one IPv6 address. */
export const BALANCER_ADDRESS = '127.7.0.1';

/** Sends queries over UDP from any loopback address, so that one process stands for many subscribers. */
export class DnsClient implements AsyncDisposable {
  private readonly sockets = new Map<string, Promise<Socket>>();
  /** What takes the answer of each query under way, by id. */
  private readonly open = new Map<number, (seen: string | null) => void>();
  private lastId = 0;
  private isClosed = false;

  constructor(private readonly waitMs = WAIT_MS) {}

  async ask(source: string, port: number, qname: string): Promise<Outcome> {
    const isIpv6 = source.includes(':');
    const address = isIpv6 ? BALANCER_ADDRESS : source;
    const socket = await this.sockets.getOrInsertComputed(address, () => this.bind(address));
    const id = this.freeId();
    const header = isIpv6 ? proxyHeader(addressRdata(source), SOURCE_PORT) : Buffer.alloc(0);
    const query = Buffer.concat([header, encodeQuery(id, qname)]);
    const first = await this.sendOnce(socket, port, id, query);
    if (first !== null) return { seen: first, retries: 0 };
    return { seen: await this.sendOnce(socket, port, id, query), retries: 1 };
  }

  /** Queries after this get no answer. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const socket of this.sockets.values()) (await socket).close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
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
      // This process may have been too busy to read an answer that has arrived: read the socket first.
      const timer = setTimeout(() => setTimeout(() => setImmediate(settle, null), 5), this.waitMs);
      this.open.set(id, settle);
      if (!this.isClosed) socket.send(query, port, '127.0.0.1');
    });
  }

  private freeId(): number {
    do this.lastId = (this.lastId + 1) & 0xffff;
    while (this.open.has(this.lastId));
    return this.lastId;
  }

  private async bind(address: string): Promise<Socket> {
    const socket = createSocket('udp4');
    await once(socket.bind(0, address), 'listening');
    // If nobody listens on the port, the query just gets no answer.
    socket.on('error', () => undefined);
    return socket.on('message', (answer) => {
      this.open.get(answer.readUInt16BE(0))?.(readAnswer(answer));
    });
  }
}
