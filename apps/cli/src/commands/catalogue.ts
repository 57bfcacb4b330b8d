import { type Definition, readDefinition } from '@weir/catalogue';
import { SCHEMA } from '@weir/control-plane/configuration';
import { acceptHeld, readHeld } from '@weir/control-plane/catalogue/store/source-store';
import { DomainError, normaliseDomain, parseHashKey } from '@weir/dns-name';
import { parseVariables } from '@weir/ops';
import { build } from '../catalogue/build.js';
import { check } from '../catalogue/check.js';
import { show } from '../catalogue/show.js';
import { type Context, Failure, UsageError } from '../context.js';
import { withDatabase } from '../database.js';
import { grouped } from '../terminal.js';

interface Options {
  /** Folder or URL; undefined: that of CATALOGUE. */
  readonly catalogue?: string;
}

/** Reads every source, and reports on each; with a database also which lists wait for somebody to accept them. */
export async function checkCatalogue(context: Context, options: Options): Promise<void> {
  const { environment, terminal } = context;
  const isGood = await check(await definitionOf(context, options), terminal);
  if (environment['DATABASE_URL'] !== undefined) {
    const held = await withDatabase(context, readHeld);
    for (const { name, problem } of held) terminal.print(`held: ${name} ${problem}`);
    if (held.length > 0) terminal.print('weir catalogue accept SOURCE takes a held list');
  }
  if (!isGood) throw new Failure();
}

/** Takes the held list of a source. */
export async function acceptList(context: Context, source: string): Promise<void> {
  const domains = await withDatabase(context, (pool) => acceptHeld(pool, source));
  if (domains === null) throw new Failure(`no list of ${source} is held`);
  context.terminal.print(`${source}: a list of ${grouped(domains)} domains is taken`);
}

/** Compiles an image under DOMAIN_HASH_KEY. */
export async function buildImage(context: Context, file: string, options: Options): Promise<void> {
  const { DOMAIN_HASH_KEY } = SCHEMA;
  const key = parseVariables({ DOMAIN_HASH_KEY }, context.environment).DOMAIN_HASH_KEY;
  const definition = await definitionOf(context, options);
  await build(definition, file, parseHashKey(key), context.terminal);
}

/** Prints the categories and applications of a domain, and the lines that list it. */
export async function showDomain(context: Context, text: string, options: Options): Promise<void> {
  const domain = asDomain(text);
  const allRead = await show(await definitionOf(context, options), domain, context.terminal);
  if (!allRead) throw new Failure();
}

function definitionOf({ environment }: Context, { catalogue }: Options): Promise<Definition> {
  const { CATALOGUE } = parseVariables({ CATALOGUE: SCHEMA.CATALOGUE }, environment);
  return readDefinition(catalogue ?? CATALOGUE);
}

function asDomain(text: string): string {
  try {
    return normaliseDomain(text);
  } catch (error) {
    if (error instanceof DomainError) throw new UsageError(`the domain ${error.message}`);
    throw error;
  }
}
