import { integerOption, namesOption, optionsOrText, readOptions } from '../../command-options.js';

export interface Options {
  readonly jobs: readonly string[];
  readonly servers: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  jobs: { type: 'string' },
  servers: { type: 'string' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '5' },
  rate: { type: 'string', default: '20000' },
} as const;

/** @returns a text for the user instead of options: the help, or what is wrong */
export function parseOptions(
  args: readonly string[],
  jobs: readonly string[],
  servers: readonly string[],
): Options | { readonly help: string } | { readonly error: string } {
  const help = [
    'npm run bench:dns -- [--jobs NAMES] [--servers NAMES] [--rounds 5] [--seconds 5] [--rate 20000]',
    '',
    'Compares Weir with the DNS servers that are installed. Names are separated by commas.',
    `jobs: ${jobs.join(', ')}`,
    `servers: ${servers.join(', ')}`,
    'seconds: of each of the two phases, full load and the steady rate (queries per second)',
    'A round takes 15 s a server, in the job million up to a minute: most of all BIND, which loads a million names.',
  ].join('\n');
  return optionsOrText(help, () => {
    const values = readOptions(args, OPTIONS);
    if (values.help) return null;
    return {
      jobs: values.jobs === undefined ? jobs : namesOption('jobs', values.jobs, jobs),
      servers:
        values.servers === undefined ? servers : namesOption('servers', values.servers, servers),
      rounds: integerOption('rounds', values.rounds, 1, 100),
      seconds: integerOption('seconds', values.seconds, 1, 600),
      rate: integerOption('rate', values.rate, 1, 1_000_000),
    };
  });
}
