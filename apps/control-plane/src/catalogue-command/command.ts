import { CatalogueError, DefinitionFaults, readDefinition } from '@weir/catalogue';
import { DomainError, normaliseDomain, parseHashKey } from '@weir/dns-name';
import { parseVariables, VariableError } from '@weir/ops';
import { parseArgs } from 'node:util';
import { SCHEMA } from '../configuration.js';
import { build } from './build.js';
import { check } from './check.js';
import { accept, printHeld } from './held.js';
import { show } from './show.js';
import type { Terminal } from './terminal.js';

export const USAGE = `usage: npm run catalogue -- <command> [--catalogue <folder or URL>]

  check           reads the definition and all its sources, and reports what each one lists; with DATABASE_URL also
                  which lists are held back, and why
  accept <source> takes a list that is held back because it is much shorter or longer than the last one; the source is
                  named as check names it. In force within CATALOGUE_INTERVAL_MS on every resolver. Needs DATABASE_URL
  build <file>    compiles the image under DOMAIN_HASH_KEY and writes it to the file
  show <domain>   prints the categories and applications of a domain, and the line that lists it

  --catalogue     folder or http(s) URL with a catalogue.yaml; by default what CATALOGUE says, or catalogue
  --help          this text

Exit code: 0, or 1 when the definition or a source cannot be used, or 2 when the command is not valid.`;

const DONE = 0;
const FAILED = 1;
const USAGE_ERROR = 2;

type Environment = Readonly<Record<string, string | undefined>>;

class UsageError extends Error {}

/** Runs one command. @returns the exit code. */
export async function runCommand(
  argv: readonly string[],
  environment: Environment,
  terminal: Terminal,
): Promise<number> {
  try {
    return (await dispatch(argv, environment, terminal)) ? DONE : FAILED;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.printError(`catalogue: ${error.message}; see --help`);
      return USAGE_ERROR;
    }
    const isMendable = error instanceof CatalogueError || error instanceof VariableError;
    if (!isMendable) throw error;
    const faults = error instanceof DefinitionFaults ? error.faults : error.message.split('\n');
    for (const fault of faults) terminal.printError(`catalogue: ${fault}`);
    return FAILED;
  }
}

async function dispatch(
  argv: readonly string[],
  environment: Environment,
  terminal: Terminal,
): Promise<boolean> {
  const { values, positionals } = parse(argv);
  const [command, argument] = positionals;
  if (values.help === true) {
    terminal.print(USAGE);
    return true;
  }
  const needsArgument = ['accept', 'build', 'show'].includes(command ?? '');
  if (positionals.length !== (needsArgument ? 2 : 1)) {
    throw new UsageError(command === undefined ? 'no command' : 'wrong number of arguments');
  }
  const { CATALOGUE } = parseVariables({ CATALOGUE: SCHEMA.CATALOGUE }, environment);
  const definition = (): ReturnType<typeof readDefinition> =>
    readDefinition(values.catalogue ?? CATALOGUE);
  switch (command) {
    case 'accept': {
      const { DATABASE_URL } = parseVariables({ DATABASE_URL: SCHEMA.DATABASE_URL }, environment);
      return accept(DATABASE_URL, argument, terminal);
    }
    case 'check': {
      const isGood = await check(await definition(), terminal);
      const url = environment['DATABASE_URL'];
      if (url !== undefined) await printHeld(url, terminal);
      return isGood;
    }
    case 'build': {
      const { DOMAIN_HASH_KEY } = parseVariables(
        { DOMAIN_HASH_KEY: SCHEMA.DOMAIN_HASH_KEY },
        environment,
      );
      await build(await definition(), argument, parseHashKey(DOMAIN_HASH_KEY), terminal);
      return true;
    }
    case 'show': {
      const domain = asDomain(argument);
      return show(await definition(), domain, terminal);
    }
    default:
      throw new UsageError(`unknown command ${command.slice(0, 60)}`);
  }
}

function parse(argv: readonly string[]): {
  values: { catalogue?: string; help?: boolean };
  positionals: string[];
} {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { catalogue: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (cause) {
    throw new UsageError((cause as Error).message.split('. ')[0], { cause });
  }
}

function asDomain(text: string): string {
  try {
    return normaliseDomain(text);
  } catch (cause) {
    if (!(cause instanceof DomainError)) throw cause;
    throw new UsageError(`the domain ${cause.message}`, { cause });
  }
}
