import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { Random } from './random.js';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes before this time, by `performance.now`. */
  stalledUntilMs: number;
  isBlackhole: boolean;
}

/** What becomes of a piece of a response. */
type Filter = (chunk: Buffer) => Buffer;
const UNCHANGED: Filter = (chunk) => chunk;

/** A TCP load balancer on loopback that can also delay, cut or silently drop traffic, as a broken network does. */
export class TcpProxy {
  /** How long each piece of a response is held up. */
  delayMs = 0;
  private readonly server = createServer((client) => this.link(client));
  private readonly links = new Set<Link>();
  private isBlackhole = false;

  /**
   * @param nextPort the loopback port for the next connection; undefined: the connection is refused.
   * @param filter makes the filter of the responses of one connection
   * @param random picks the connections that are cut, stalled or blackholed
   */
  constructor(
    private readonly nextPort: () => number | undefined,
    private readonly filter: () => Filter = () => UNCHANGED,
    protected readonly random = new Random(1),
  ) {}

  /** @param port default: a free one */
  async listen(port = 0): Promise<void> {
    await once(this.server.listen(port, '127.0.0.1'), 'listening');
  }

  /** Once it listens. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Closes connections. @param share which part of them, from 0 to 1 */
  cut(share = 1): void {
    for (const { client, server } of this.some(share)) {
      client.destroy();
      server.destroy();
    }
  }

  /** Delays everything on some connections. @param share which part of them, from 0 to 1 */
  stall(share: number, durationMs: number): void {
    for (const link of this.some(share)) link.stalledUntilMs = performance.now() + durationMs;
  }

  /** Drops everything on some connections from now on. @param share which part of them, from 0 to 1 */
  blackhole(share: number): void {
    for (const link of this.some(share)) drop(link);
  }

  /** Drops everything on every connection, in both directions. The ends do not learn that the other end closed. */
  startBlackhole(): void {
    this.isBlackhole = true;
    for (const link of this.links) drop(link);
  }

  /** New connections work again. Connections from before or during the blackhole stay broken. */
  stopBlackhole(): void {
    this.isBlackhole = false;
  }

  private some(share: number): Link[] {
    return [...this.links].filter(() => this.random.chance(share));
  }

  private link(client: Socket): void {
    const port = this.nextPort();
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    const link = { client, server, stalledUntilMs: 0, isBlackhole: false };
    this.links.add(link);
    client.pipe(passOn(link)).pipe(server);
    server.pipe(passOn(link, this.filter(), () => this.delayMs)).pipe(client);
    for (const socket of [client, server]) {
      socket.setNoDelay(true).on('error', () => socket.destroy());
      socket.on('close', () => {
        if (!link.isBlackhole) [client, server].forEach((one) => one.destroy());
        if (client.destroyed && server.destroyed) this.links.delete(link);
      });
    }
    if (this.isBlackhole) drop(link);
  }
}

function passOn(link: Link, filter = UNCHANGED, delayMs = () => 0): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      const waitMs = Math.max(delayMs(), link.stalledUntilMs - performance.now());
      const passed = filter(chunk);
      if (waitMs > 0) setTimeout(done, waitMs, null, passed);
      else done(null, passed);
    },
  });
}

function drop(link: Link): void {
  link.isBlackhole = true;
  for (const socket of [link.client, link.server]) socket.unpipe().resume();
}

/** Faults of pub/sub messages. Everything else passes unchanged. */
interface MessageFaults {
  /** Probability that a message is dropped. */
  readonly drop: number;
  /** Probability that a message is delivered twice. */
  readonly duplicate: number;
}

export const NO_MESSAGE_FAULTS: MessageFaults = { drop: 0, duplicate: 0 };

/** A proxy in front of Redis that also drops or duplicates whole pub/sub messages. */
export class RedisProxy extends TcpProxy {
  faults = NO_MESSAGE_FAULTS;

  constructor(redisPort: () => number, random: Random) {
    super(redisPort, () => messageFilter((message) => this.deliver(message)), random);
  }

  private deliver(message: string): string {
    if (this.random.chance(this.faults.drop)) return '';
    return message.repeat(this.random.chance(this.faults.duplicate) ? 2 : 1);
  }
}

/** How a pub/sub message begins, after its type. */
const HEAD = '3\r\n$7\r\nmessage\r\n';
/** A pub/sub message: a RESP3 push or a RESP2 array. No text of Weir has a line break, or is `*3` or `>3`. */
const MESSAGE = /(?<=\n)[>*]3\r\n\$7\r\nmessage\r\n(?:[^\n]*\n){4}/g;
/** One that has its head, and whose end is in the next chunk. */
const UNFINISHED = /(?<=\n)[>*]3\r\n\$7\r\nmessage\r\n(?:[^\n]*\n){0,3}[^\n]*$/;

/** Replaces the pub/sub messages of a connection. Chunks may end anywhere. */
export function messageFilter(replace: (message: string) => string): Filter {
  // The last byte that went on: whether a line begins after it.
  let last = '\n';
  let rest = '';
  return (chunk) => {
    const text = last + rest + chunk.toString('latin1');
    const start = /(?<=\n)[>*][^>*]{0,15}$/.exec(text)?.[0] ?? '';
    rest = UNFINISHED.exec(text)?.[0] ?? (HEAD.startsWith(start.slice(1)) ? start : '');
    const whole = text.slice(0, text.length - rest.length);
    last = whole.slice(-1);
    return Buffer.from(whole.replace(MESSAGE, replace).slice(1), 'latin1');
  };
}
