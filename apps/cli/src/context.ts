import type { Terminal } from './terminal.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command gets from its process. */
export interface Context {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly input: AsyncIterable<Uint8Array>;
  /** From the call on, Ctrl-C (SIGINT), SIGTERM and SIGHUP abort this, with their name, and end nothing else. */
  readonly interrupted: () => AbortSignal;
}

/** Of commands that can print JSON. */
export interface JsonOption {
  readonly json?: true | undefined;
}

/** The command failed for a reason that its user can mend: a line for each fault, or none if all has been said. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The command line is not valid, as only the command itself can tell. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
