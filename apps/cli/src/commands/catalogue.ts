import { type Definition, enableSet, readDefinition, readSets } from '@weir/catalogue';
import { SCHEMA } from '@weir/control-plane/configuration';
import { DomainError, normaliseDomain, parseHashKey } from '@weir/dns-name';
import { parseVariables } from '@weir/ops';
import { build } from '../catalogue/build.js';
import { check } from '../catalogue/check.js';
import { show } from '../catalogue/show.js';
import { type Context, Failure, UsageError } from '../context.js';
import { table } from '../terminal.js';

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

/** Prints the sets of the folder of the catalogue. */
export async function printSets(
  context: Context,
  options: Options & { readonly json?: true },
): Promise<void> {
  const { terminal } = context;
  const sets = (await readSets(folderOf(context, options))).map((set) => ({
    name: set.name,
    about: set.about,
    enabled: set.isEnabled,
    sources: set.sources.map(({ name, mirrors, licence, commercialUse }) => ({
      source: name,
      mirrors: mirrors.length,
      licence,
      commercial_use: commercialUse,
    })),
  }));
  if (options.json === true) {
    terminal.print(JSON.stringify(sets));
    return;
  }
  const rows = sets.map(({ name, about, enabled, sources }) => [
    name,
    enabled ? 'on' : '-',
    [...new Set(sources.map(({ licence }) => licence))].join(', '),
    [...new Set(sources.map((source) => source.commercial_use))].join(', '),
    about,
  ]);
  const [first, ...lines] = table([['set', 'on', 'licence', 'commercial use', 'what'], ...rows], 5);
  terminal.print(terminal.style('bold', first));
  for (const line of lines) terminal.print(line);
}

/** Turns a set on. */
export async function enable(context: Context, name: string, options: Options): Promise<void> {
  const folder = folderOf(context, options);
  const isNew = await enableSet(folder, name);
  const what = isNew ? 'is included from now on' : 'was included already';
  context.terminal.print(`sets/${name}.yaml ${what} in ${folder}/catalogue.yaml`);
}

/** Sets are of a folder: nobody could list those of a URL, or write there. */
function folderOf(context: Context, options: Options): string {
  const place = placeOf(context, options);
  if (!/^https?:/i.test(place)) return place;
  throw new UsageError(`the catalogue ${place} is no folder: add the set to it where it is edited`);
}

function definitionOf(context: Context, options: Options): Promise<Definition> {
  return readDefinition(placeOf(context, options));
}

function placeOf({ environment }: Context, { catalogue }: Options): string {
  return catalogue ?? parseVariables({ CATALOGUE: SCHEMA.CATALOGUE }, environment).CATALOGUE;
}

function asDomain(text: string): string {
  try {
    return normaliseDomain(text);
  } catch (error) {
    if (error instanceof DomainError) throw new UsageError(`the domain ${error.message}`);
    throw error;
  }
}
