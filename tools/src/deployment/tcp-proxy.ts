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
export type Filter = (chunk: Buffer) => Buffer;

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
    private readonly filter: () => Filter = () => (chunk) => chunk,
    protected readonly random = new Random(1),
  ) {}

  /** @param port default: a free one */
  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
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
    const filter = this.filter();
    const requests = passOn(
      (chunk) => chunk,
      link,
      () => 0,
    );
    client.pipe(requests).pipe(server);
    server.pipe(passOn(filter, link, () => this.delayMs)).pipe(client);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay(true).on('error', () => socket.destroy());
      socket.on('close', () => {
        if (!link.isBlackhole) other.destroy();
        if (client.destroyed && server.destroyed) this.links.delete(link);
      });
    }
    if (this.isBlackhole) drop(link);
  }
}

function passOn(filter: Filter, link: Link, delayMs: () => number): Transform {
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
