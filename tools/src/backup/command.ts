import { optional, parseVariables, StartError, text, url, VariableError } from '@weir/ops';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { abortOnSignal } from '../command.js';
import { fail, print } from '../output.js';
import { withDatabase } from './database.js';

const SCHEMA = {
  DATABASE_URL: optional(
    url(['postgresql', 'postgres'], {
      description: 'The database. Unset: the one of the local stack.',
    }),
  ),
  DATA_DIR: text('a folder', { description: 'Folder of the local stack.', default: '.weir' }),
};

/** The repository. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The parsed arguments, and what every command needs. */
export interface Invocation<Flag extends string> {
  readonly file: string;
  readonly flags: ReadonlySet<Flag>;
  /** Runs `use` with the URL of the database. @throws StartError when there is none. */
  readonly withDatabase: (use: (databaseUrl: string) => Promise<void>) => Promise<void>;
  readonly root: string;
  /** Prints a line. */
  readonly log: (line: string) => void;
  /** Aborted by SIGINT (Ctrl-C), SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
}

export interface Command<Flag extends string> {
  readonly name: string;
  readonly help: string;
  readonly flags: readonly Flag[];
  /** Whether a local stack without data of PostgreSQL gets a new one. */
  readonly mayCreate: boolean;
  readonly run: (invocation: Invocation<Flag>) => Promise<void>;
}

/**
 * Runs a command with the arguments and the environment of this process. After a failure it prints one line and
 * sets exit code 1.
 */
export async function runCommand<Flag extends string>(command: Command<Flag>): Promise<void> {
  try {
    const parsed = parse(command, process.argv.slice(2));
    if (parsed === null) {
      print(command.help.trimEnd());
      return;
    }
    const variables = parseVariables(SCHEMA, process.env);
    await command.run({
      ...parsed,
      withDatabase: (use) => withDatabase(variables, ROOT, command.mayCreate, use),
      root: ROOT,
      log: print,
      signal: interruptSignal(),
    });
  } catch (error) {
    const isExpected = error instanceof StartError || error instanceof VariableError;
    const explanation = isExpected ? error.message : ((error as Error).stack ?? String(error));
    fail(`${command.name}: ${explanation}`);
  }
}

/** @returns null when help was asked for. @throws StartError when the arguments are wrong. */
export function parse<Flag extends string>(
  { flags }: Pick<Command<Flag>, 'flags'>,
  args: readonly string[],
): Pick<Invocation<Flag>, 'file' | 'flags'> | null {
  const { values, positionals } = read(flags, args);
  if (values['help'] === true) return null;
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new StartError('name one file (--help says what there is)');
  }
  return { file, flags: new Set(flags.filter((flag) => values[flag] === true)) };
}

function read(flags: readonly string[], args: readonly string[]) {
  const options = [...flags, 'help'].map((flag) => [flag, { type: 'boolean' }] as const);
  try {
    const config = { args: [...args], options: Object.fromEntries(options) };
    return parseArgs({ ...config, allowPositionals: true });
  } catch (error) {
    throw new StartError(`${(error as Error).message} (--help says what there is)`);
  }
}

function interruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  abortOnSignal(interrupted, (signal) => `ended by ${signal}; all is as it was`);
  return interrupted.signal;
}
