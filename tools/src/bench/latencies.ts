import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../percentile.js';

/**
 * Repeats `work` while `goOn` returns true.
 *
 * @param pauseMs between two calls. Without a pause, a faster server gets more calls and has less time for other work.
 * @returns the duration of each call, in ms.
 */
export async function measureLatencies(
  work: () => Promise<unknown>,
  goOn: () => boolean,
  pauseMs = 0,
): Promise<number[]> {
  const latencies: number[] = [];
  while (goOn()) {
    const startedMs = performance.now();
    await work();
    latencies.push(performance.now() - startedMs);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return latencies;
}

export function summarise(latencies: readonly number[]): string {
  const at = (share: number): string => percentile(latencies, share).toFixed(1);
  return `${latencies.length} answered, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}
