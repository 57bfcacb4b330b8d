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
import { renderResult, renderTable } from './report.js';
import { runNeighbours } from './run.js';

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
