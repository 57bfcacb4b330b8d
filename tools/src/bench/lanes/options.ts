import { integerOption, namesOption, optionsOrText, readOptions } from '../../command-options.js';

export interface LaneOptions {
  readonly jobs: readonly string[];
  readonly lanes: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
}

const MAX_LANES = 64;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  jobs: { type: 'string', default: 'zone,cached' },
  lanes: { type: 'string', default: '1,2' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '5' },
  rate: { type: 'string', default: '20000' },
} as const;

/** @returns a text for the user instead of options: the help, or what is wrong */
export function parseOptions(
  args: readonly string[],
  jobs: readonly string[],
): LaneOptions | { readonly help: string } | { readonly error: string } {
  const help = [
    'npm run bench:lanes -- [--jobs zone,cached] [--lanes 1,2] [--rounds 5] [--seconds 5] [--rate 20000]',
    '',
    'Compares a resolver with one lane (RESOLVER_THREADS) with one that has more. The ratio is to the first number.',
    'lanes: 0 stands for a resolver whose only thread answers all queries',
    `jobs: ${jobs.join(', ')}`,
    'seconds: of each of the two phases, full load and the steady rate (queries per second)',
    'A round takes 15 s for each number of lanes. With less than four cores the load generator shares those of the',
    'resolver: then only processor times mean something, not throughput.',
  ].join('\n');
  return optionsOrText(help, () => {
    const values = readOptions(args, OPTIONS);
    if (values.help) return null;
    return {
      jobs: namesOption('jobs', values.jobs, jobs),
      lanes: values.lanes.split(',').map((text) => integerOption('lanes', text, 0, MAX_LANES)),
      rounds: integerOption('rounds', values.rounds, 1, 100),
      seconds: integerOption('seconds', values.seconds, 1, 600),
      rate: integerOption('rate', values.rate, 1, 1_000_000),
    };
  });
}
