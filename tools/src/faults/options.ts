import { integerOption, nameOption, readOptions } from '../command-options.js';
import { type DefectName, DEFECTS } from './plant/plants.js';

export interface FaultOptions {
  readonly seed: number;
  /** How long faults are injected for. */
  readonly seconds: number;
  readonly writers: number;
  /** Use the fixed script of half a minute instead of a random one. */
  readonly short: boolean;
  /** A defect that is put into the processes, to see that the suite finds it. */
  readonly plant: DefectName | null;
  /** Keep data and logs even if the run succeeds. */
  readonly keep: boolean;
}

export const HELP = `Starts two control planes, three resolvers, PostgreSQL and Redis. Changes the configuration through the API while it
injects faults. Checks that every acknowledged change is in force everywhere and that none is lost
(docs/fault-suite.md).

  npm run test:faults -- [options]

  --seed <n>      seed of the script, the changes and the message faults; default: random, printed
  --seconds <n>   how long faults are injected for; default: 60
  --writers <n>   parallel writers; default: 12, and always 4 with --plant
  --short         the fixed script of half a minute that npm test runs
  --plant <name>  put a defect into the processes and end when it is found; fails if it is not. The defects:
                  ${Object.keys(DEFECTS).join('\n                  ')}
  --keep          keep data and logs even if the run succeeds
  --help          this text
`;

const OPTIONS = {
  seed: { type: 'string' },
  seconds: { type: 'string', default: '60' },
  writers: { type: 'string', default: '12' },
  short: { type: 'boolean', default: false },
  plant: { type: 'string' },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean' },
} as const;

/** @returns null when help was asked for. @throws StartError with one line when an option is wrong. */
export function parseOptions(args: readonly string[], randomSeed: number): FaultOptions | null {
  const values = readOptions(args, OPTIONS);
  if (values.help) return null;
  return {
    seed: integerOption('seed', values.seed ?? String(randomSeed), 0, 0xffff_ffff),
    seconds: integerOption('seconds', values.seconds, 1, 86_400),
    writers: integerOption('writers', values.writers, 1, 100),
    short: values.short,
    plant: values.plant === undefined ? null : defectOption(values.plant),
    keep: values.keep,
  };
}

function defectOption(text: string): DefectName {
  return nameOption('plant', text, Object.keys(DEFECTS) as DefectName[]);
}
