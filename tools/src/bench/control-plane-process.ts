import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../services/child.js';
import { freePort } from '../services/ports.js';

export interface ControlPlaneProcess {
  readonly url: string;
  /** Of health and metrics. */
  readonly opsUrl: string;
  readonly token: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  /** The repository's root. */
  readonly root: string;
  /** For its log. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Beside those that it needs. */
  readonly variables?: Readonly<Record<string, string>>;
}

const READY_DEADLINE_MS = 60_000;

/** Starts a built control plane and waits until it is ready. */
export async function startControlPlane(
  options: ControlPlaneOptions,
): Promise<ControlPlaneProcess> {
  const [port, feedPort, opsPort] = [await freePort(), await freePort(), await freePort()];
  const token = randomBytes(16).toString('hex');
  const child = startChild({
    name: 'control-plane',
    command: process.execPath,
    args: [join(options.root, 'apps/control-plane/dist/main.js')],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: options.databaseUrl,
      REDIS_URL: options.redisUrl,
      MANAGEMENT_PORT: String(port),
      MANAGEMENT_TOKENS: token,
      DOMAIN_HASH_KEY: '000102030405060708090a0b0c0d0e0f',
      FEED_PORT: String(feedPort),
      FEED_TOKEN: token,
      OPS_PORT: String(opsPort),
      CATALOGUE: join(options.root, 'catalogue'),
      LOG_LEVEL: 'warn',
      ...options.variables,
    },
    logFile: join(options.folder, 'control-plane.log'),
  });
  await waitUntilReady(`http://127.0.0.1:${opsPort}/readyz`, () => child.lastLines().join('\n'));
  return {
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    token,
    pid: child.pid,
    stop: async () => {
      await child.stop();
    },
  };
}

async function waitUntilReady(url: string, explain: () => string): Promise<void> {
  const deadlineMs = performance.now() + READY_DEADLINE_MS;
  while (performance.now() < deadlineMs) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // not listening yet
    }
    await sleep(50);
  }
  throw new Error(`the control plane is not ready: ${explain()}`);
}

/** Largest resident set that a process has had so far (Linux: VmHWM). */
export function peakResidentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Math.round(Number(kib) / 1024);
}
