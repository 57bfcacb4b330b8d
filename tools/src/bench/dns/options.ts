import { parseArgs } from 'node:util';
import { readInteger, readNames } from '../option-values.js';

export interface Options {
  readonly jobs: readonly string[];
  readonly servers: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
}

/** @returns a text for the user instead of options: the help, or what is wrong */
export function readOptions(
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
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        jobs: { type: 'string', default: jobs.join(',') },
        servers: { type: 'string', default: servers.join(',') },
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '5' },
        rate: { type: 'string', default: '20000' },
      },
    });
    if (values.help) return { help };
    return {
      jobs: readNames('--jobs', values.jobs, jobs),
      servers: readNames('--servers', values.servers, servers),
      rounds: readInteger('--rounds', values.rounds, 100),
      seconds: readInteger('--seconds', values.seconds, 600),
      rate: readInteger('--rate', values.rate, 1_000_000),
    };
  } catch (error) {
    return { error: `${error instanceof Error ? error.message : String(error)}\n\n${help}` };
  }
}
