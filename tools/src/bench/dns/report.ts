import { markdownTable, percentile } from '../../figures.js';
import type { Measurement, Phase } from './measure.js';

/** The rounds of one server in one job. */
export interface ServerRounds {
  readonly server: string;
  readonly rounds: readonly Measurement[];
  /** Why other rounds could not be measured. */
  readonly failures: readonly string[];
}

const HEADINGS = [
  ...['server', 'kq/s', 'CPU µs', 'ratio', 'steady CPU µs', 'ratio', 'p50 ms', 'p99 ms', 'MiB'],
  ...['lost', 'errors', 'not measured'],
];

/**
 * A Markdown table of medians. The ratio is the processor time of an answer divided by that of the best server
 * with which the others are compared.
 */
export function renderTable(
  results: readonly ServerRounds[],
  isReference: (server: string) => boolean,
): string {
  const others = results.filter(({ server, rounds }) => isReference(server) && rounds.length > 0);
  const bestOf = (phase: 'full' | 'steady'): number =>
    Math.min(...others.map((one) => median(one, phase, 'cpuUs')));
  const best = { full: bestOf('full'), steady: bestOf('steady') };
  return markdownTable(
    HEADINGS,
    results.map((one) => [one.server, ...figuresOf(one, best), failuresOf(one)]),
  );
}

/** @param best the lowest processor time of an answer */
function figuresOf(one: ServerRounds, best: { full: number; steady: number }): string[] {
  if (one.rounds.length === 0) return new Array<string>(HEADINGS.length - 2).fill('');
  return [
    (median(one, 'full', 'perSecond') / 1000).toFixed(1),
    median(one, 'full', 'cpuUs').toFixed(1),
    ratio(median(one, 'full', 'cpuUs'), best.full),
    median(one, 'steady', 'cpuUs').toFixed(1),
    ratio(median(one, 'steady', 'cpuUs'), best.steady),
    median(one, 'steady', 'p50Ms').toFixed(2),
    median(one, 'steady', 'p99Ms').toFixed(2),
    String(Math.max(...one.rounds.map(({ memoryMiB }) => memoryMiB))),
    String(total(one, 'lost')),
    String(total(one, 'errors')),
  ];
}

/** On one line, as a cell must be. */
function failuresOf({ failures }: ServerRounds): string {
  return failures.join('; ').replaceAll('\n', ' ').replaceAll('|', '/');
}

function median({ rounds }: ServerRounds, phase: 'full' | 'steady', figure: keyof Phase): number {
  return percentile(
    rounds.map((round) => round[phase][figure]),
    0.5,
  );
}

function ratio(value: number, best: number): string {
  return Number.isFinite(best) ? (value / best).toFixed(2) : '';
}

function total({ rounds }: ServerRounds, figure: 'lost' | 'errors'): number {
  return rounds.reduce((sum, { full, steady }) => sum + full[figure] + steady[figure], 0);
}
