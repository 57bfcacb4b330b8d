import { StartError } from '@weir/ops';
import { parseArgs } from 'node:util';

export interface FaultOptions {
  readonly seed: number;
  /** How long faults are injected for. */
  readonly seconds: number;
  readonly writers: number;
  /** Use the fixed script of half a minute instead of a random one. */
  readonly short: boolean;
  /** Keep data and logs even if the run succeeds. */
  readonly keep: boolean;
}

export const HELP = `Starts two control planes, three resolvers, PostgreSQL and Redis. Changes the configuration through the API while it
injects faults. Checks that every acknowledged change is in force everywhere and that none is lost
(docs/fault-suite.md).

  npm run test:faults -- [options]

  --seed <n>      seed of the script, the changes and the message faults; default: random, printed
  --seconds <n>   how long faults are injected for; default: 60
  --writers <n>   parallel writers; default: 12
  --short         the fixed script of half a minute that npm test runs
  --keep          keep data and logs even if the run succeeds
  --help
`;

/** @returns null when help was asked for. @throws StartError with one line when an option is wrong. */
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
    throw new StartError(`${(error as Error).message} (see --help)`);
  }
}

function integer(name: string, text: string, lowest: number, highest: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= lowest && value <= highest) return value;
  throw new StartError(`--${name} is an integer from ${lowest} to ${highest}`);
}
