import type { Latencies, Measurement } from './measurement.js';
import type { AttackResult, RunResult } from './run.js';
import { limitMs } from './verdict.js';

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
    `  attacker   ${list(attacker)}`,
    `  resolver   ${list(counters)}`,
    `  processor  ${percent(cpuShare)} used, ${percent(waitingShare)} waited for it; ` +
      `${percent(attack.excludedShare)} of the queries left out`,
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
    ...latencyCells(quiet.udp, attacked.udp),
    ...latencyCells(quiet.stream, attacked.stream),
    percent(cpuShare),
    verdict.result,
  ];
}

function latencyCells(quiet: Latencies, attacked: Latencies): Row {
  return [ms(quiet.p99Ms), ms(attacked.p99Ms), ms(limitMs(quiet)), ms(attacked.maxMs)];
}

function times(
  quiet: Measurement,
  attack: Measurement,
  after: Measurement,
  group: 'udp' | 'stream',
): string {
  const three = ({ p50Ms, p99Ms, maxMs }: Latencies): string =>
    [p50Ms, p99Ms, maxMs].map(ms).join(' / ');
  return (
    `p50 / p99 / max in ms: quiet ${three(quiet[group])}, attacked ${three(attack[group])}, ` +
    `then ${three(after[group])}; p99 allowed ${ms(limitMs(quiet[group]))}`
  );
}

function list(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return entries.length === 0 ? 'nothing' : entries.join(', ');
}

function ms(value: number): string {
  return value.toFixed(1);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
