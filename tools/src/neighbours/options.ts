import { integerOption, namesOption, readOptions } from '../command-options.js';
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

const ALL = [...ATTACKS, ...OTHER_LOADS];
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
  --help          this text

${ATTACKS.map(describe).join('\n')}

Only with --only:

${OTHER_LOADS.map(describe).join('\n')}
`;

const OPTIONS = {
  only: { type: 'string' },
  seconds: { type: 'string', default: '8' },
  quiet: { type: 'string', default: '5' },
  repeats: { type: 'string', default: '2' },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean' },
} as const;

/** @returns null when help was asked for. @throws StartError with one line when an option is wrong. */
export function parseOptions(args: readonly string[]): NeighbourOptions | null {
  const values = readOptions(args, OPTIONS);
  if (values.help) return null;
  return {
    attacks: values.only === undefined ? ATTACKS : attacksOption(values.only),
    seconds: integerOption('seconds', values.seconds, 1, 3_600),
    quietSeconds: integerOption('quiet', values.quiet, 1, 3_600),
    repeats: integerOption('repeats', values.repeats, 0, 100),
    keep: values.keep,
  };
}

/** In the order in which they are named. */
function attacksOption(text: string): NamedAttack[] {
  const byName = new Map(ALL.map((attack) => [attack.name, attack]));
  return namesOption('only', text, [...byName.keys()]).flatMap((name) => byName.get(name) ?? []);
}
