import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExitStatus } from './child.js';
import { freePort } from './ports.js';
import { spawnWeir } from './weir.js';

export interface ControlPlaneProcess {
  readonly url: string;
  /** Base URL of health and metrics. */
  readonly opsUrl: string;
  readonly feedUrl: string;
  /** Token of the management API and of the feed API. */
  readonly token: string;
  readonly pid: number;
  /** Resolves when it has exited, for whatever reason. */
  readonly exited: Promise<ExitStatus>;
  /** The last lines of its output. */
  lastLines(): readonly string[];
  /** Waits until it is ready. @throws Error with its last lines when it exited or the deadline passed. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  /** The repository's root. */
  readonly root: string;
  /** The folder of its log. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Additional variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Starts a built control plane and waits until it is ready. */
export async function startControlPlane(
  options: ControlPlaneOptions,
): Promise<ControlPlaneProcess> {
  const controlPlane = await spawnControlPlane(options);
  await controlPlane.ready();
  return controlPlane;
}

/** Starts a built control plane without waiting for it. */
export async function spawnControlPlane(
  options: ControlPlaneOptions,
): Promise<ControlPlaneProcess> {
  const { root, folder, databaseUrl, redisUrl } = options;
  const [port, feedPort] = [await freePort(), await freePort()];
  const token = randomBytes(16).toString('hex');
  const { child, opsUrl, ready } = await spawnWeir('control-plane', {
    root,
    folder,
    variables: {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      MANAGEMENT_PORT: String(port),
      MANAGEMENT_TOKENS: token,
      FEED_PORT: String(feedPort),
      FEED_TOKENS: token,
      CATALOGUE: join(root, 'catalogue'),
      ...options.variables,
    },
  });
  return {
    url: `http://127.0.0.1:${port}`,
    opsUrl,
    feedUrl: `http://127.0.0.1:${feedPort}`,
    token,
    pid: child.pid,
    exited: child.exited,
    lastLines: () => child.lastLines(),
    ready,
    stop: async () => {
      await child.stop();
    },
  };
}

/** Peak resident memory of a process (Linux: VmHWM). */
export function peakResidentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Math.round(Number(kib) / 1024);
}

/** Processor time of a process so far, in ms, all threads together. */
export interface ProcessCpu {
  readonly userMs: number;
  /** In the kernel, on behalf of the process. */
  readonly systemMs: number;
}

/** Linux: utime and stime, in ticks of 10 ms. */
export function readProcessCpu(pid: number): ProcessCpu {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return { userMs: Number(fields[11]) * 10, systemMs: Number(fields[12]) * 10 };
}

/** User and system time of a process so far, in ms. */
export function cpuMs(pid: number): number {
  const { userMs, systemMs } = readProcessCpu(pid);
  return userMs + systemMs;
}
