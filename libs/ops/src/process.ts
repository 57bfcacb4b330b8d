import { renderHelp } from './reference.js';
import {
  type Configuration,
  parseVariables,
  VariableError,
  type VariableSchema,
} from './variable.js';
import { readVersion } from './version.js';

/** A start that failed for a reason that an operator can mend: its message is one line for people, without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/**
 * Turns the error of a failed listen into one that says which port and which variable.
 * @returns the error itself when it is not about an address or a port.
 */
export function explainListenError(
  error: unknown,
  what: { host: string; port: number; variable: string },
): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  const reasons: Record<string, string> = {
    EADDRINUSE: 'is in use by another process',
    EACCES: 'may not be used by this user',
    EADDRNOTAVAIL: 'is not an address of this machine',
  };
  const reason = code === undefined ? undefined : reasons[code];
  if (reason === undefined) return error;
  const where = what.host.includes(':')
    ? `[${what.host}]:${what.port}`
    : `${what.host}:${what.port}`;
  return new StartError(`${where} ${reason} (${what.variable})`, { cause: error });
}

/** An entry point: who it is, what it reads, and where from. */
export interface EntryPoint<S extends VariableSchema> {
  readonly name: string;
  /** One sentence for `--help`. */
  readonly description: string;
  readonly schema: S;
  /** Its package.json, which has its version. */
  readonly packageFile: URL;
  /** Other arguments than `--help`, `--version` and `--check`, with what each is there for: `to …`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** For the end of `--help`. */
  readonly notes?: string;
  /** Arguments behind the script: none, or one of those. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs an entry point with its configuration, and with the flag that it was given. `--help` prints the variables, `--version`
 * the version, `--check` only reads the variables. A VariableError or StartError ends the process with its lines on standard
 * error and exit code 1; anything else likewise with its stack.
 */
export function runMain<S extends VariableSchema>(
  entry: EntryPoint<S>,
  main: (configuration: Configuration<S>, flag: string | undefined) => Promise<void>,
): void {
  start(entry, main).catch((error: unknown) => {
    const mendable = error instanceof VariableError || error instanceof StartError;
    const text = mendable ? error.message : error instanceof Error ? error.stack : String(error);
    fail((text ?? '').replace(/^/gm, `${entry.name}: `));
  });
}

async function start<S extends VariableSchema>(
  entry: EntryPoint<S>,
  main: (configuration: Configuration<S>, flag: string | undefined) => Promise<void>,
): Promise<void> {
  const [argument] = entry.argv;
  if (argument === '--help' || argument === '-h') {
    process.stdout.write(renderHelp(entry));
    return;
  }
  if (argument === '--version') {
    process.stdout.write(`${entry.name} ${readVersion(entry.packageFile, entry.environment)}\n`);
    return;
  }
  const known = ['--check', ...Object.keys(entry.flags ?? {})];
  if (argument !== undefined && !known.includes(argument)) {
    throw new StartError(`unknown argument ${argument.slice(0, 60)}; see --help`);
  }
  const configuration = parseVariables(entry.schema, entry.environment);
  if (argument !== '--check') await main(configuration, argument);
}

function fail(lines: string): never {
  process.stderr.write(`${lines}\n`);
  process.exit(1);
}
