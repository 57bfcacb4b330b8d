import { StartError } from '@weir/ops';
import { parseArgs } from 'node:util';
import { ATTACKS, type NamedAttack, OTHER_LOADS } from './attacks/index.js';

export interface NeighbourOptions {
  readonly attacks: readonly NamedAttack[];
  /** Length of each attack. */
  readonly seconds: number;
  /** Length of each quiet time. */
  readonly quietSeconds: number;
  /** How often an attack is repeated that could not be measured, because other processes were in the way. */
  readonly repeats: number;
  /** Keep data and logs even if the run succeeds. */
  readonly keep: boolean;
}

const LONGEST_NAME = Math.max(...ATTACKS.map(({ name }) => name.length));
const describe = ({ name, description }: NamedAttack): string =>
  `  ${name.padEnd(LONGEST_NAME)}  ${description}`;

export const HELP = `One subscriber attacks a resolver in each of the ways below, one after the other, while another subscriber measures
whether its queries are answered, and how fast (docs/neighbour-suite.md).

  npm run test:neighbours -- [options]

  --only <names>  only these attacks, separated by commas; default: all
  --seconds <n>   length of each attack; default: 8
  --quiet <n>     length of the quiet time before and after each; default: 5
  --repeats <n>   how often an attack is repeated when other processes disturbed the measurement; default: 2
  --keep          keep data and logs even if the run succeeds
  --help

${ATTACKS.map(describe).join('\n')}

Only with --only:

${OTHER_LOADS.map(describe).join('\n')}
`;

/** @returns null when help was asked for. @throws StartError with one line when an option is wrong. */
export function parseOptions(args: readonly string[]): NeighbourOptions | null {
  const { values } = read(args);
  if (values.help) return null;
  return {
    attacks: values.only === undefined ? ATTACKS : values.only.split(',').map(attackOf),
    seconds: integer('seconds', values.seconds ?? '8', 1, 3_600),
    quietSeconds: integer('quiet', values.quiet ?? '5', 1, 3_600),
    repeats: integer('repeats', values.repeats ?? '2', 0, 100),
    keep: values.keep ?? false,
  };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        seconds: { type: 'string' },
        quiet: { type: 'string' },
        repeats: { type: 'string' },
        keep: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new StartError(`${(error as Error).message} (see --help)`);
  }
}

function attackOf(name: string): NamedAttack {
  const found = [...ATTACKS, ...OTHER_LOADS].find((one) => one.name === name);
  if (found === undefined) throw new StartError(`--only: there is no attack ${name} (see --help)`);
  return found;
}

function integer(name: string, text: string, lowest: number, highest: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= lowest && value <= highest) return value;
  throw new StartError(`--${name} is an integer from ${lowest} to ${highest}`);
}
