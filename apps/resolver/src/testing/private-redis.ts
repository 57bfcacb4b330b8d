import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PrivateRedis {
  readonly url: string;
  stop(): Promise<void>;
}

/** A Redis of a spec's own: pub/sub channels know no databases, so specs that share one would hear each other. */
export async function startPrivateRedis(): Promise<PrivateRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-redis-'));
  const port = await freePort();
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''];
  const child = spawn('redis-server', settings, { stdio: 'ignore' });
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      failure ??= new Error('redis-server ended');
      resolve();
    });
  });
  while (!(await accepts(port))) {
    if (failure !== undefined) throw failure;
    await sleep(20);
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
