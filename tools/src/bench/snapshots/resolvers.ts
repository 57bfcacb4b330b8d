import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from '../../services/child.js';
import { cpuMs, HASH_KEY, peakResidentMiB, waitUntilReady } from '../../services/control-plane.js';
import { freePort } from '../../services/ports.js';
import type { BenchServices } from '../services.js';

const READY_DEADLINE_MS = 600_000;

export interface StartOptions {
  readonly count: number;
  /** The checkout whose resolver is started. */
  readonly root: string;
  /** Holds a folder for each of them. */
  readonly folder: string;
}

export interface StartedResolvers {
  /** When each was ready, since the start of the first. */
  readonly readyMs: readonly number[];
  /** Processor time until all were ready. */
  readonly meanCpuMs: number;
  readonly meanPeakMiB: number;
}

/** Starts resolvers with empty disks at once, waits until all are ready, and stops them. */
export async function startResolvers(
  { count, root, folder }: StartOptions,
  services: BenchServices,
): Promise<StartedResolvers> {
  const ports: { readonly dns: number; readonly ops: number }[] = [];
  while (ports.length < count) ports.push({ dns: await freePort(), ops: await freePort() });
  const startedMs = performance.now();
  const resolvers = ports.map(({ dns, ops }, number) => {
    const own = join(folder, `resolver-${number}`);
    mkdirSync(own);
    return { child: startResolver(root, own, services, dns, ops), ops };
  });
  try {
    const readyMs = await Promise.all(
      resolvers.map(async ({ child, ops }) => {
        await waitUntilReady(`http://127.0.0.1:${ops}`, child, READY_DEADLINE_MS);
        return performance.now() - startedMs;
      }),
    );
    const mean = (of: (pid: number) => number): number =>
      resolvers.reduce((sum, { child }) => sum + of(child.pid), 0) / count;
    return { readyMs, meanCpuMs: mean(cpuMs), meanPeakMiB: mean(peakResidentMiB) };
  } finally {
    await Promise.all(resolvers.map(({ child }) => child.stop()));
  }
}

function startResolver(
  root: string,
  folder: string,
  { controlPlane, redisUrl }: BenchServices,
  dnsPort: number,
  opsPort: number,
): Child {
  return startChild({
    name: 'resolver',
    command: process.execPath,
    args: [join(root, 'apps/resolver/dist/main.js')],
    env: {
      PATH: process.env['PATH'],
      RESOLVER_THREADS: '1',
      REDIS_URL: redisUrl,
      FEED_URL: controlPlane.feedUrl,
      FEED_TOKEN: controlPlane.token,
      DOMAIN_HASH_KEY: HASH_KEY,
      DATA_DIR: join(folder, 'data'),
      DNS_HOST: '127.0.0.1',
      DNS_PORT: String(dnsPort),
      // Nobody asks it anything.
      UPSTREAMS: '127.0.0.1:9',
      OPS_PORT: String(opsPort),
      LOG_LEVEL: 'warn',
    },
    logFile: join(folder, 'log'),
  });
}
