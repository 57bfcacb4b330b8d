import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  abortOnSignal,
  flag,
  integer,
  list,
  name,
  optionsOrExit,
  print,
  runToEnd,
  value,
} from '../command.js';
import type { NamedAttack } from './attacks/attack.js';
import { ATTACKS, OTHER_LOADS } from './attacks/index.js';
import type { Latencies, Measurement } from './measurement.js';
import { runNeighbours, type AttackResult, type RunResult } from './run.js';
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
function renderResult(result: AttackResult): string {
  const { observation, after, attacker, counters, verdict, cpuShare } = result;
  const { quiet, attack, waitingShare } = observation;
  return [
    `  UDP        ${times(quiet, attack, after, 'udp')}`,
    `  streams    ${times(quiet, attack, after, 'stream')}`,
    `  p99        attacked: ${listOf(attack.p99MsByKind, ms)}`,
    `  attacker   ${listOf(attacker, String)}`,
    `  resolver   ${listOf(counters, String)}`,
    `  processor  ${percent(cpuShare)} used, ${percent(waitingShare)} waited for it; ` +
      `${percent(attack.excludedShare)} of the queries left out`,
    `  memory     ${observation.growthMiB} MiB more`,
    `  ${verdict.result.toUpperCase()} ${verdict.reasons.join('; ')}`,
  ].join('\n');
}

/** The results of a run as a Markdown table. All times are in milliseconds. */
function renderTable({ results }: RunResult): string {
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

function listOf(
  values: Readonly<Record<string, number>>,
  render: (value: number) => string,
): string {
  const entries = Object.entries(values).map(([name, value]) => `${name} ${render(value)}`);
  return entries.length === 0 ? 'nothing' : entries.join(', ');
}

function ms(value: number): string {
  return value.toFixed(1);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const LONGEST_NAME = Math.max(...ATTACKS.map(({ name }) => name.length));
const describe = ({ name, description }: NamedAttack): string =>
  `  ${name.padEnd(LONGEST_NAME)}  ${description}`;

const HELP = `One subscriber attacks a resolver in each of the ways below, one after the other, while another subscriber measures
whether its queries are answered, and how fast (docs/neighbour-suite.md).

  npm run test:neighbours -- [options]

  --only <names>  only these attacks, separated by commas; default: all
  --seconds <n>   length of each attack; default: 8
  --quiet <n>     length of the quiet time before and after each; default: 5
  --repeats <n>   how often an attack is repeated when other processes disturbed the measurement; default: 2
  --keep          keep data and logs even if the run succeeds
  --help          this text

${ATTACKS.map(describe).join('\n')}

Only with --only:

${OTHER_LOADS.map(describe).join('\n')}
`;

const ALL = [...ATTACKS, ...OTHER_LOADS];
const root = fileURLToPath(new URL('../../..', import.meta.url));

async function main(): Promise<void> {
  const { only, quiet, ...options } = optionsOrExit(HELP, {
    only: value(
      list(name(ALL.map((attack) => attack.name))),
      ATTACKS.map((attack) => attack.name),
    ),
    seconds: value(integer(1, 3_600), 8),
    quiet: value(integer(1, 3_600), 5),
    repeats: value(integer(0, 100), 2),
    keep: flag,
  });
  const attacks = only.flatMap((one) => ALL.find((attack) => attack.name === one) ?? []);
  const folder = mkdtempSync(join(tmpdir(), 'weir-neighbours-'));
  print(`logs in ${folder}`);
  const interrupted = new AbortController();
  abortOnSignal(interrupted, (signal) => `ended by ${signal}, logs in ${folder}`);
  const result = await runNeighbours(
    { ...options, attacks, quietSeconds: quiet },
    {
      root,
      folder,
      signal: interrupted.signal,
      onAttack: ({ name, description }) => print(`\n${name}: ${description}`),
      onResult: (one) => print(renderResult(one)),
    },
  );
  print(`\n${result.processors}\n${renderTable(result)}`);
  const bad = result.results.filter(({ verdict }) => verdict.result !== 'ok');
  if (bad.length === 0) {
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
    print('OK');
    return;
  }
  print(`FAILED: ${bad.length} of ${result.results.length} attacks. Logs in ${folder}`);
  print(
    `To repeat: npm run test:neighbours -- --only ${bad.map(({ attack }) => attack.name).join(',')}`,
  );
  process.exitCode = 1;
}

await runToEnd(main);
