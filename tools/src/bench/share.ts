import { env } from 'node:process';
import { shareOption } from '../command-options.js';

/** Of what a benchmark does; below 1 to try it out (`BENCH_SHARE=0.01 npm run bench:…`). */
const SHARE = shareOption('BENCH_SHARE', env['BENCH_SHARE'] ?? '1');

/** As many of these as the benchmark is to do, at least one. */
export function shareOf(count: number): number {
  return Math.max(1, Math.round(count * SHARE));
}
