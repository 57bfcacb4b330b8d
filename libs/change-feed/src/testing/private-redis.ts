import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** A port that is free may be taken by somebody else before Redis takes it. */
const ATTEMPTS = 5;
const READY = 'Ready to accept connections';

/**
 * A Redis of a spec's own, empty: pub/sub channels know no databases, so specs that share one would hear each other.
 * @param port of one that was stopped and comes back; otherwise any.
 */
export async function startPrivateRedis(port?: number): Promise<PrivateRedis> {
  if (port !== undefined) return startOn(port);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOn(await freePort());
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function startOn(port: number): Promise<PrivateRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-redis-'));
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''];
  const child = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(READY)) resolve();
      });
      child.once('error', reject);
      child.once('close', () => {
        reject(new Error(`redis-server has ended:\n${output}`));
      });
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  // What it says later is read by nobody, and must not fill the pipe.
  child.stdout.removeAllListeners('data').resume();
  return { url: `redis://127.0.0.1:${port}`, port, stop };
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
