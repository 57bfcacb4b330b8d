import { cpus, loadavg, totalmem } from 'node:os';
import { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { share } from '../command.js';
import { percentile } from '../figures.js';

/** Of what a benchmark does; below 1 to try it out (`BENCH_SHARE=0.01 npm run bench:…`). */
const SHARE = share(env['BENCH_SHARE'] ?? '1');

/** As many of these as the benchmark is to do, at least one. */
export function shareOf(count: number): number {
  return Math.max(1, Math.round(count * SHARE));
}

/** The machine, the time and what else the machine does: figures mean nothing without them. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return [
    `${cpu?.model ?? 'unknown'}, ${cpus().length} cores, ${gib} GiB`,
    `Node ${process.version}, ${new Date().toISOString()}, ${describeLoad()}`,
  ].join('\n');
}

/** `load 0.5`. */
export function describeLoad(): string {
  return `load ${loadavg()[0]?.toFixed(1)}`;
}

/**
 * Repeats `work` while `goOn` returns true; both get how often it was repeated.
 * @param pauseMs between two calls. Without a pause, a faster server gets more calls and has less time for other work.
 * @returns the duration of each call, in ms.
 */
export async function measureLatencies(
  work: (n: number) => Promise<unknown>,
  goOn: (n: number) => boolean | Promise<boolean>,
  pauseMs = 0,
): Promise<number[]> {
  const latencies: number[] = [];
  for (let n = 0; await goOn(n); n++) {
    const startedMs = performance.now();
    await work(n);
    latencies.push(performance.now() - startedMs);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return latencies;
}

export function summarise(latencies: readonly number[]): string {
  const at = (share: number): string => percentile(latencies, share).toFixed(1);
  return `${latencies.length} answered, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}
