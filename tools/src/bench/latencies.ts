import { percentile } from '../percentile.js';

/** Repeats `work` while `goOn` returns true. @returns the duration of each call, in ms. */
export async function measureLatencies(
  work: () => Promise<unknown>,
  goOn: () => boolean,
): Promise<number[]> {
  const latencies: number[] = [];
  while (goOn()) {
    const startedMs = performance.now();
    await work();
    latencies.push(performance.now() - startedMs);
  }
  return latencies;
}

export function summarise(latencies: readonly number[]): string {
  const at = (share: number): string => percentile(latencies, share).toFixed(1);
  return `${latencies.length} answered, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}
