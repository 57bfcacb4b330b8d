import { type Definition, readDefinition } from '@weir/catalogue';
import { SCHEMA } from '@weir/control-plane/configuration';
import { DomainError, normaliseDomain, parseHashKey } from '@weir/dns-name';
import { parseVariables } from '@weir/ops';
import { build } from '../catalogue/build.js';
import { check } from '../catalogue/check.js';
import { show } from '../catalogue/show.js';
import { type Context, Failure, UsageError } from '../context.js';

interface Options {
  /** Folder or URL; undefined: that of CATALOGUE. */
  readonly catalogue?: string;
}

/** Reads every source, and reports on each. */
export async function checkCatalogue(context: Context, options: Options): Promise<void> {
  if (!(await check(await definitionOf(context, options), context.terminal))) throw new Failure();
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
