import { connect, createServer, type Server, type Socket } from 'node:net';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/**
 * One address in front of servers, as a load balancer has it; and a network that can lose everything without
 * telling anybody.
 */
export class TcpWay {
  private readonly server: Server;
  private readonly links = new Set<Link>();
  private readonly silenced = new Set<Link>();
  private isSilent = false;

  /** @param nextPort where the next connection leads; undefined: nobody is there. */
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

  /** Loses all that is sent on any connection, of either end, and that it was closed. */
  silence(): void {
    this.isSilent = true;
    for (const link of this.links) this.lose(link);
  }

  /** New connections work again; those of before stay lost. */
  mend(): void {
    this.isSilent = false;
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
    client.pipe(server).pipe(client);
    client.on('error', () => client.destroy()).on('close', () => this.closed(link, server));
    server.on('error', () => server.destroy()).on('close', () => this.closed(link, client));
    if (this.isSilent) this.lose(link);
  }

  private lose(link: Link): void {
    this.silenced.add(link);
    for (const socket of [link.client, link.server]) socket.unpipe().resume();
  }

  private closed(link: Link, other: Socket): void {
    if (!this.silenced.has(link)) other.destroy();
    if (!link.client.destroyed || !link.server.destroyed) return;
    this.links.delete(link);
    this.silenced.delete(link);
  }
}
