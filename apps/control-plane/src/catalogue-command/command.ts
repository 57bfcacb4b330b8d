import {
  CatalogueError,
  DefinitionFaults,
  readDefinition,
  compileCatalogue,
  type Definition,
  type GroupDefinition,
  type ListedGroup,
  NameList,
  type ReadList,
  readNames,
  type SourceDefinition,
  sourcesOf,
} from '@weir/catalogue';
import { DomainError, normaliseDomain, parseHashKey, type HashKey } from '@weir/dns-name';
import { parseVariables, VariableError } from '@weir/ops';
import { rename, rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { acceptHeld, readHeld } from '../catalogue/store/source-store.js';
import { SCHEMA } from '../configuration.js';
import { check } from './check.js';
import { withSource } from './read-source.js';
import { show } from './show.js';
import { type Terminal, grouped } from './terminal.js';

/** Prints which lists wait for somebody to accept them. */
async function printHeld(databaseUrl: string, terminal: Terminal): Promise<void> {
  const held = await withDatabase(databaseUrl, readHeld);
  for (const { name, problem } of held) terminal.print(`held: ${name} ${problem}`);
  if (held.length > 0) terminal.print('npm run catalogue -- accept SOURCE takes a held list');
}

/** Takes the held list of a source. @returns whether there was one. */
async function accept(databaseUrl: string, name: string, terminal: Terminal): Promise<boolean> {
  const domains = await withDatabase(databaseUrl, (pool) => acceptHeld(pool, name));
  if (domains === null) terminal.printError(`catalogue: no list of ${name} is held`);
  else terminal.print(`${name}: a list of ${grouped(domains)} domains is taken`);
  return domains !== null;
}

async function withDatabase<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'weir-catalogue' });
  pool.on('error', () => undefined);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Compiles an image and writes it to a file atomically. */
async function build(
  definition: Definition,
  file: string,
  key: HashKey,
  terminal: Terminal,
): Promise<void> {
  const { neverBlock } = definition;
  const lists = new Map<SourceDefinition, ReadList>();
  for (const source of sourcesOf(definition)) {
    const list = await withSource(source, terminal, (body) =>
      readNames(body, source.format, key, { sha256: source.sha256, neverBlock }),
    );
    if (list.names.count === 0) {
      throw new CatalogueError(`${source.declaredAt}: ${source.name} lists no domain`);
    }
    lists.set(source, list);
  }
  const listed = (group: GroupDefinition): ListedGroup => {
    const { id, name, domains, sources, isGuarded, rewrites } = group;
    const taken = sources.map((source) => {
      const { names, protectedNames } = lists.get(source) as ReadList;
      return isGuarded ? names.without(protectedNames) : names;
    });
    return { id, name, lists: [NameList.of(domains, key), ...taken], rewrites };
  };
  const { image, sha256, domainCount } = compileCatalogue(
    {
      categories: definition.categories.map(listed),
      applications: definition.applications.map(listed),
    },
    key,
  );
  await writeWhole(file, image);
  const bytesEach =
    domainCount === 0 ? '' : `, ${(image.length / domainCount).toFixed(1)} a domain`;
  terminal.print(`${file}: ${grouped(domainCount)} domains`);
  terminal.print(`${grouped(image.length)} bytes${bytesEach}`);
  terminal.print(`sha256 ${sha256}`);
}

async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  const partial = `${file}.part`;
  try {
    await writeFile(partial, bytes);
    await rename(partial, file);
  } catch (cause) {
    await rm(partial, { force: true });
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CatalogueError(`${file} cannot be written: ${code ?? message}`, { cause });
  }
}

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
    const isForOperator = error instanceof CatalogueError || error instanceof VariableError;
    if (!isForOperator) throw error;
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
