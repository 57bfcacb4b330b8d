import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import {
  type Configuration,
  parseVariables,
  renderHelp,
  VariableError,
  type VariableSchema,
} from './variables/index.js';
import { StartError } from './start-error.js';
import { readVersion } from './version.js';

/** Where a server listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
  /** The variable that sets the port: `DNS_TLS_PORT`. That of the address is `DNS_HOST` then. */
  readonly variable: string;
}

/** @returns the port. @throws StartError that names the port and its variable when the port cannot be used. */
export async function listen(server: Server, place: Place): Promise<number> {
  try {
    await once(server.listen(place.port, place.host), 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    throw explainListenError(error, place);
  }
}

/**
 * Turns the error of a failed listen into a StartError that names the port and the variable to correct.
 * @returns the error itself when it does not concern the address or the port.
 */
export function explainListenError(error: unknown, what: Place): unknown {
  const reasons: Partial<Record<string, string>> = {
    EADDRINUSE: 'is in use by another process',
    EACCES: 'may not be used by this user',
    EADDRNOTAVAIL: 'is not an address of this machine',
    EAFNOSUPPORT: 'is IPv6, which this machine does not have',
  };
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const reason = reasons[code];
  if (reason === undefined) return error;
  const isAddress = code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
  const variable = isAddress
    ? what.variable.replace(/(_TLS|_HTTPS)?_PORT$/, '_HOST')
    : what.variable;
  const host = what.host.includes(':') ? `[${what.host}]` : what.host;
  return new StartError(`${host}:${what.port} ${reason} (${variable})`, { cause: error });
}

export interface EntryPoint<S extends VariableSchema> {
  readonly name: string;
  /** One sentence for `--help`. */
  readonly description: string;
  readonly schema: S;
  /** The package.json of the repository, which has the version of all processes. */
  readonly packageFile: URL;
  /** Arguments besides `--help`, `--version` and `--check`, each with its purpose: `to …`. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly notes?: string;
  /** Arguments after the script: none, or one of these. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs an entry point with its configuration and the flag that it was given. `--help` prints the variables,
 * `--version` the version, `--check` only reads the variables, and calls `check`, which reads the files that they name.
 * Any error ends the process with exit code 1: a VariableError or StartError with its message on standard error, any
 * other error with its stack.
 */
export function runMain<S extends VariableSchema>(
  entry: EntryPoint<S>,
  main: (configuration: Configuration<S>, flag: string | undefined) => Promise<void>,
  check: (configuration: Configuration<S>) => Promise<void> | void = () => undefined,
): void {
  const run = async (): Promise<void> => {
    const [argument, second] = entry.argv;
    if (argument === '--help' || argument === '-h') {
      process.stdout.write(renderHelp(entry));
      return;
    }
    if (argument === '--version') {
      process.stdout.write(`${entry.name} ${readVersion(entry.packageFile, entry.environment)}\n`);
      return;
    }
    const known = ['--check', ...Object.keys(entry.flags ?? {})];
    const unknown = argument === undefined || known.includes(argument) ? second : argument;
    if (unknown !== undefined) {
      throw new StartError(`unknown argument ${unknown.slice(0, 60)}; see --help`);
    }
    const configuration = parseVariables(entry.schema, entry.environment);
    if (argument === '--check') await check(configuration);
    else await main(configuration, argument);
  };
  run().catch((error: unknown) => {
    const isForOperator = error instanceof VariableError || error instanceof StartError;
    const text = isForOperator
      ? error.message
      : ((error as Error | undefined)?.stack ?? String(error));
    process.stderr.write(`${text.replace(/^/gm, `${entry.name}: `)}\n`);
    process.exit(1);
  });
}
