import { connect, createServer, type Server, type Socket } from 'node:net';

/** The one address of the feed API: each connection goes to the next replica that is ready, as a load balancer with health checks does it. */
export class FeedBalancer {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private turn = 0;

  /** @param readyPorts the feed ports of the replicas that are ready now. */
  constructor(private readonly readyPorts: () => readonly number[]) {
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
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private link(client: Socket): void {
    const ports = this.readyPorts();
    const port = ports[this.turn++ % ports.length];
    if (port === undefined) {
      client.destroy();
      return;
    }
    const replica = connect(port, '127.0.0.1');
    client.pipe(replica).pipe(client);
    for (const socket of [client, replica]) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        replica.destroy();
      });
    }
  }
}
