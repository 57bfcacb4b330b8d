import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** A Redis of a spec's own, empty: pub/sub channels know no databases, so specs that share one would hear each other. */
export async function startPrivateRedis(ownPort?: number): Promise<PrivateRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-redis-'));
  const port = ownPort ?? (await freePort());
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''];
  const child = spawn('redis-server', settings, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: 200 });
  // Refused connections are what is waited out here.
  client.on('error', () => undefined);
  await client.ping();
  client.disconnect();
  return {
    url,
    port,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
