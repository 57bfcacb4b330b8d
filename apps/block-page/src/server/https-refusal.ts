import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Resets each connection at once, so that no browser waits for a page that it cannot get. */
export class HttpsRefusal {
  private readonly server: Server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined).resetAndDestroy();
  });

  /** @returns the port listened on. @throws the listen error (`EADDRINUSE` …). */
  async start(host: string, port: number): Promise<number> {
    await once(this.server.listen(port, host), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    await once(this.server.close(), 'close');
  }
}
