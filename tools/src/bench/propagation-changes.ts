import { percentile } from '../percentile.js';
import { change, nextPage, withDeployment } from './propagation-deployment.js';
import { shareOf } from './share.js';

const WARM_UP = shareOf(300);
const CHANGES = shareOf(1_000);
const THROUGHPUT_MS = shareOf(10_000);
const RESOLVERS = 3;

/**
 * One writer, one change after the other: milliseconds from request to the 2xx that says it is in force on every
 * resolver.
 */
export function measureLatency(resolvers: number): Promise<Record<string, number>> {
  return withDeployment(resolvers, async (_deployment, client) => {
    await change(client, 'POST', '/profiles/', { profile: { id: 1 } });
    const latencies: number[] = [];
    let late = 0;
    for (let n = 0; n < WARM_UP + CHANGES; n++) {
      const startedMs = performance.now();
      const { applied, total } = await nextPage(client, 1, n);
      if (n < WARM_UP) continue;
      if (applied !== resolvers || total !== resolvers) late++;
      latencies.push(performance.now() - startedMs);
    }
    return {
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      'not in force everywhere within a second': late,
    };
  });
}

/** As many writers in parallel, each waiting for its answers: changes a second that are in force on every resolver. */
export function measureThroughput(writers: number): Promise<Record<string, number>> {
  return withDeployment(RESOLVERS, async (_deployment, client) => {
    let changes = 0;
    const write = async (profile: number, endMs: number): Promise<void> => {
      for (let n = 0; performance.now() < endMs; n++) {
        await nextPage(client, profile, n);
        changes++;
      }
    };
    const profiles = Array.from({ length: writers }, (_, i) => i + 1);
    for (const id of profiles) await change(client, 'POST', '/profiles/', { profile: { id } });
    const runFor = async (durationMs: number): Promise<void> => {
      const endMs = performance.now() + durationMs;
      await Promise.all(profiles.map((profile) => write(profile, endMs)));
    };
    await runFor(THROUGHPUT_MS / 5);
    changes = 0;
    await runFor(THROUGHPUT_MS);
    return { sustained: changes / (THROUGHPUT_MS / 1_000) };
  });
}
