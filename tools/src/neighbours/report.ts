import type { Latencies, Measurement } from './measurement.js';
import type { AttackResult, RunResult } from './run.js';
import { type Group, limitMs } from './verdict.js';

type Row = readonly (string | number)[];

const HEADINGS: Row = [
  'Attack',
  'Queries',
  'Lost',
  'UDP p99 quiet',
  'attacked',
  'allowed',
  'longest',
  'Stream p99 quiet',
  'attacked',
  'allowed',
  'longest',
  'CPU',
  'Result',
];

/** What one attack did, in detail. */
export function renderResult(result: AttackResult): string {
  const { observation, after, attacker, counters, verdict, cpuShare } = result;
  const { quiet, attack, waitingShare } = observation;
  return [
    `  UDP        ${times(quiet, attack, after, 'udp')}`,
    `  streams    ${times(quiet, attack, after, 'stream')}`,
    `  p99        attacked: ${list(attack.p99MsByKind, ms)}`,
    `  attacker   ${list(attacker, String)}`,
    `  resolver   ${list(counters, String)}`,
    `  processor  ${percent(cpuShare)} used, ${percent(waitingShare)} waited for it; ` +
      `${percent(attack.excludedShare)} of the queries left out`,
    `  memory     ${observation.growthMiB} MiB more`,
    `  ${verdict.result.toUpperCase()} ${verdict.reasons.join('; ')}`,
  ].join('\n');
}

/** The results of a run as a Markdown table. All times are in milliseconds. */
export function renderTable({ results }: RunResult): string {
  const rows = [HEADINGS, HEADINGS.map(() => '---'), ...results.map(toRow)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((row) => String(row[column]).length)),
  );
  const line = (row: Row): string =>
    `| ${row.map((cell, column) => String(cell).padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return rows.map(line).join('\n');
}

function toRow({ attack, observation, verdict, cpuShare }: AttackResult): Row {
  const { samples, quiet, attack: attacked } = observation;
  return [
    attack.name,
    samples.length,
    samples.filter(({ fault }) => fault !== null).length,
    ...latencyCells(quiet, attacked, 'udp'),
    ...latencyCells(quiet, attacked, 'stream'),
    percent(cpuShare),
    verdict.result,
  ];
}

function latencyCells(quiet: Measurement, attacked: Measurement, group: Group): Row {
  const { p99Ms, maxMs } = attacked[group];
  return [ms(quiet[group].p99Ms), ms(p99Ms), ms(limitMs(quiet, group)), ms(maxMs)];
}

function times(quiet: Measurement, attack: Measurement, after: Measurement, group: Group): string {
  const three = ({ p50Ms, p99Ms, maxMs }: Latencies): string =>
    [p50Ms, p99Ms, maxMs].map(ms).join(' / ');
  return (
    `p50 / p99 / max in ms: quiet ${three(quiet[group])}, attacked ${three(attack[group])}, ` +
    `then ${three(after[group])}; p99 allowed ${ms(limitMs(quiet, group))}`
  );
}

function list(values: Readonly<Record<string, number>>, render: (value: number) => string): string {
  const entries = Object.entries(values).map(([name, value]) => `${name} ${render(value)}`);
  return entries.length === 0 ? 'nothing' : entries.join(', ');
}

function ms(value: number): string {
  return value.toFixed(1);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
