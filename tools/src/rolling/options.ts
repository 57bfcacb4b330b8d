import { integerOption, readOptions } from '../command-options.js';

export interface RollingOptions {
  /** How often every process is restarted. */
  readonly rounds: number;
  /** How long a process that stops goes on to answer (`DRAIN_S`). */
  readonly drainSeconds: number;
}

export const HELP = `Starts two control planes, two resolvers, two block pages, PostgreSQL and Redis. Restarts every process of Weir, one
after the other, under load, and tells what was lost (docs/operations/rolling-restarts.md). If there was a release
before, all processes are of that one until their first restart.

  npm run test:rolling -- [options]

  --rounds <n>   how often every process is restarted; default: 5
  --drain <n>    seconds for which a process that stops goes on to answer; default: 5
  --help         this text
`;

const OPTIONS = {
  rounds: { type: 'string', default: '5' },
  drain: { type: 'string', default: '5' },
  help: { type: 'boolean' },
} as const;

/** @returns null when help was asked for. @throws StartError with one line when an option is wrong. */
export function parseOptions(args: readonly string[]): RollingOptions | null {
  const values = readOptions(args, OPTIONS);
  if (values.help) return null;
  return {
    rounds: integerOption('rounds', values.rounds, 1, 10_000),
    drainSeconds: integerOption('drain', values.drain, 0, 600),
  };
}
