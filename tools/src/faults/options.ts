import { StartError } from '@weir/ops';
import { parseArgs } from 'node:util';

export interface FaultOptions {
  readonly seed: number;
  /** How long faults are injected for. */
  readonly seconds: number;
  readonly writers: number;
  /** The fixed script of half a minute in the place of a drawn one. */
  readonly short: boolean;
  /** Keep data and logs of a run that succeeds, too. */
  readonly keep: boolean;
}

export const HELP = `Starts two control planes, three resolvers, PostgreSQL and Redis, changes the configuration through the API, breaks things
meanwhile, and checks that every acknowledged change is in force everywhere and none is lost (docs/fault-suite.md).

  npm run test:faults -- [options]

  --seed <n>      of the script, the changes and the message faults; default: random, printed
  --seconds <n>   how long faults are injected for; default: 60
  --writers <n>   parallel writers; default: 12
  --short         the fixed script of half a minute that npm test runs
  --keep          keep data and logs even when nothing was wrong
  --help
`;

/** @throws StartError in one line when an option is not what it may be. Null: help was asked for. */
export function parseOptions(args: readonly string[], randomSeed: number): FaultOptions | null {
  const { values } = read(args);
  if (values.help) return null;
  return {
    seed: integer('seed', values.seed ?? String(randomSeed), 0, 0xffff_ffff),
    seconds: integer('seconds', values.seconds ?? '60', 1, 86_400),
    writers: integer('writers', values.writers ?? '12', 1, 100),
    short: values.short ?? false,
    keep: values.keep ?? false,
  };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        seconds: { type: 'string' },
        writers: { type: 'string' },
        short: { type: 'boolean' },
        keep: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new StartError(`${(error as Error).message} (--help says what there is)`);
  }
}

function integer(name: string, text: string, lowest: number, highest: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= lowest && value <= highest) return value;
  throw new StartError(`--${name} is an integer from ${lowest} to ${highest}`);
}
