import { percentile } from '../../percentile.js';
import type { Measurement, Phase } from './measure.js';

/** The rounds of one server in one job. */
export interface ServerRounds {
  readonly server: string;
  readonly rounds: readonly Measurement[];
}

const HEADINGS = [
  'server',
  'kq/s',
  'CPU µs',
  'ratio',
  'steady CPU µs',
  'ratio',
  'p50 ms',
  'p99 ms',
  'MiB',
  'lost',
  'errors',
];

/**
 * A Markdown table of medians. The ratio is the processor time of an answer divided by that of the best other server
 * than `subject`.
 */
export function renderTable(results: readonly ServerRounds[], subject: string): string {
  const others = results.filter(({ server }) => server !== subject);
  const bestFull = Math.min(...others.map((one) => median(one, 'full', 'cpuUs')));
  const bestSteady = Math.min(...others.map((one) => median(one, 'steady', 'cpuUs')));
  const rows = results.map((one) => {
    const [full, steady] = [median(one, 'full', 'cpuUs'), median(one, 'steady', 'cpuUs')];
    return [
      one.server,
      (median(one, 'full', 'perSecond') / 1000).toFixed(1),
      withRange(one, 'full'),
      ratio(full, bestFull),
      withRange(one, 'steady'),
      ratio(steady, bestSteady),
      median(one, 'steady', 'p50Ms').toFixed(2),
      median(one, 'steady', 'p99Ms').toFixed(2),
      String(Math.max(...one.rounds.map(({ peakMiB }) => peakMiB))),
      String(total(one, 'lost')),
      String(total(one, 'errors')),
    ];
  });
  const separator = HEADINGS.map((_, i) => (i === 0 ? '---' : '--:'));
  return [HEADINGS, separator, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function median({ rounds }: ServerRounds, phase: 'full' | 'steady', figure: keyof Phase): number {
  return percentile(
    rounds.map((round) => round[phase][figure]),
    0.5,
  );
}

/** `12.3 (11.9–14.0)`: the median and the range of all rounds. */
function withRange(one: ServerRounds, phase: 'full' | 'steady'): string {
  const values = one.rounds.map((round) => round[phase].cpuUs);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  return `${median(one, phase, 'cpuUs').toFixed(1)} (${lowest.toFixed(1)}–${highest.toFixed(1)})`;
}

function ratio(value: number, best: number): string {
  return Number.isFinite(best) ? (value / best).toFixed(2) : '';
}

function total({ rounds }: ServerRounds, figure: 'lost' | 'errors'): number {
  return rounds.reduce((sum, { full, steady }) => sum + full[figure] + steady[figure], 0);
}
