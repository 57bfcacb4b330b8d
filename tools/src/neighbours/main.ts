import { list, name, optionsOrExit, print, runSuite, value } from '../command.js';
import { markdownTable } from '../figures.js';
import { ATTACKS } from './attacks.js';
import { LAYOUT } from './cpu.js';
import { type AttackResult, runNeighbours } from './run.js';
import { type Group, type Latencies, limitMs } from './verdict.js';

const ms = (value: number): string => value.toFixed(1);
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** What one attack did, in detail. */
function renderResult(result: AttackResult): string {
  const { observation, attacker, counters, verdict, cpuShare } = result;
  const { attack, waitingShare } = observation;
  return [
    `  UDP        ${times(result, 'udp')}`,
    `  streams    ${times(result, 'stream')}`,
    `  p99        attacked: ${listOf(attack.p99MsByKind, ms)}`,
    `  attacker   ${listOf(attacker, String)}`,
    `  resolver   ${listOf(counters, String)}`,
    `  processor  ${percent(cpuShare)} used, ${percent(waitingShare)} waited for it; ` +
      `${percent(attack.excludedShare)} of the queries left out`,
    `  memory     ${observation.growthMiB} MiB more`,
    `  ${verdict.result.toUpperCase()} ${verdict.reasons.join('; ')}`,
  ].join('\n');
}

function times({ observation: { quiet, attack }, after }: AttackResult, group: Group): string {
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

const LATENCIES = ['p99 quiet', 'attacked', 'allowed', 'longest'];
const HEADINGS = [
  ...['attack', 'queries', 'lost', ...LATENCIES.map((what) => `UDP ${what}`)],
  ...[...LATENCIES.map((what) => `stream ${what}`), 'CPU', 'result'],
];

/** All times are in milliseconds. */
function rowOf({ attack, observation, verdict, cpuShare }: AttackResult): string[] {
  const { samples, quiet, attack: attacked } = observation;
  const latencies = (['udp', 'stream'] as const).flatMap((group) => {
    const { p99Ms, maxMs } = attacked[group];
    return [quiet[group].p99Ms, p99Ms, limitMs(quiet, group), maxMs].map(ms);
  });
  const lost = samples.filter(({ fault }) => fault !== null).length;
  const counts = [samples.length, lost].map(String);
  return [attack, ...counts, ...latencies, percent(cpuShare), verdict.result];
}

const NAMES = Object.keys(ATTACKS);
const LONGEST_NAME = Math.max(...NAMES.map(({ length }) => length));

const HELP = `One subscriber attacks a resolver in each of the ways below, one after the other, while another subscriber measures
whether its queries are answered, and how fast (docs/neighbour-suite.md). It needs Linux, taskset and openssl.

  npm run test:neighbours -- [options]

  --only <names>  only these attacks, separated by commas; default: all
  --help          this text

${Object.entries(ATTACKS)
  .map(([attack, [description]]) => `  ${attack.padEnd(LONGEST_NAME)}  ${description}`)
  .join('\n')}
`;

const { only } = optionsOrExit(HELP, { only: value(list(name(NAMES)), NAMES) });

await runSuite('neighbours', async (folder, failed) => {
  const results = await runNeighbours({
    ...{ folder, failed, attacks: only },
    onAttack: (attack) => print(`\n${attack}: ${ATTACKS[attack][0]}`),
    onResult: (one) => print(renderResult(one)),
  });
  print(`\n${LAYOUT}\n${markdownTable(HEADINGS, results.map(rowOf))}`);
  const bad = results.filter(({ verdict }) => verdict.result !== 'ok');
  if (bad.length === 0) print('OK');
  else {
    const names = bad.map(({ attack }) => attack).join(',');
    print(`FAILED: ${bad.length} of ${results.length} attacks`);
    print(`To repeat: npm run test:neighbours -- --only ${names}`);
  }
  return bad.length === 0;
});
