import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/** A TCP load balancer on loopback that can also drop all traffic silently, as a broken network does. */
export class TcpProxy {
  private readonly server: Server;
  private readonly links = new Set<Link>();
  private readonly blackholed = new Set<Link>();
  private isBlackhole = false;
  /** How long each piece of a response is held up. */
  delayMs = 0;

  /** @param nextPort the loopback port for the next connection; undefined: the connection is refused. */
  constructor(private readonly nextPort: () => number | undefined) {
    this.server = createServer((client) => {
      this.link(client);
    });
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    for (const { client, server } of this.links) {
      client.destroy();
      server.destroy();
    }
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Drops everything on every connection, in both directions. The ends do not learn that the other end closed. */
  startBlackhole(): void {
    this.isBlackhole = true;
    for (const link of this.links) this.blackhole(link);
  }

  /** New connections work again. Connections from before or during the blackhole stay broken. */
  stopBlackhole(): void {
    this.isBlackhole = false;
  }

  private link(client: Socket): void {
    const port = this.nextPort();
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    const link: Link = { client, server };
    this.links.add(link);
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.pipe(server).pipe(this.delayed()).pipe(client);
    client.on('error', () => client.destroy()).on('close', () => this.closed(link, server));
    server.on('error', () => server.destroy()).on('close', () => this.closed(link, client));
    if (this.isBlackhole) this.blackhole(link);
  }

  private delayed(): Transform {
    return new Transform({
      transform: (chunk, _encoding, done) => {
        if (this.delayMs === 0) done(null, chunk);
        else setTimeout(done, this.delayMs, null, chunk);
      },
    });
  }

  private blackhole(link: Link): void {
    this.blackholed.add(link);
    for (const socket of [link.client, link.server]) socket.unpipe().resume();
  }

  private closed(link: Link, other: Socket): void {
    if (!this.blackholed.has(link)) other.destroy();
    if (!link.client.destroyed || !link.server.destroyed) return;
    this.links.delete(link);
    this.blackholed.delete(link);
  }
}
