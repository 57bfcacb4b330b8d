import { freePort } from '@weir/ops/testing';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

const READY = 'Ready to accept connections';

/**
 * Starts an empty Redis for one spec. Pub/sub channels do not depend on the database number, so specs that share a
 * Redis would receive each other's messages.
 * @param wanted port of a Redis that was stopped and comes back; otherwise a free one.
 */
export async function startPrivateRedis(wanted?: number): Promise<PrivateRedis> {
  const port = wanted ?? (await freePort());
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
  // Nobody reads its later output, which must not fill the pipe.
  child.stdout.removeAllListeners('data').resume();
  return { url: `redis://127.0.0.1:${port}`, port, stop };
}
