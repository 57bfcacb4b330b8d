import { join } from 'node:path';
import { cpuMs, peakResidentMiB } from '../../services/control-plane.js';
import { spawnResolver } from '../../services/resolver.js';
import type { BenchServices } from '../services.js';

const READY_DEADLINE_MS = 600_000;
/** Nobody asks the resolvers anything. */
const VARIABLES = { UPSTREAMS: '127.0.0.1:9' };

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
  { controlPlane, redisUrl }: BenchServices,
): Promise<StartedResolvers> {
  const startedMs = performance.now();
  const resolvers = await Promise.all(
    Array.from({ length: count }, (_, number) =>
      spawnResolver({
        ...{ root, redisUrl, variables: VARIABLES },
        folder: join(folder, `resolver-${number}`),
        feedUrl: controlPlane.feedUrl,
        feedToken: controlPlane.token,
      }),
    ),
  );
  try {
    const readyMs = await Promise.all(
      resolvers.map(async (resolver) => {
        await resolver.ready(READY_DEADLINE_MS);
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
