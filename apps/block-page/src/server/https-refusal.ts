import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

/** Resets each connection at once, so that no browser waits for a page that it cannot get. */
export class HttpsRefusal {
  private readonly server: Server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined).resetAndDestroy();
  });

  /** @returns the port listened on. @throws the listen error (`EADDRINUSE` …). */
  start(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject).listen(port, host, () => {
        this.server.off('error', reject);
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }
}
