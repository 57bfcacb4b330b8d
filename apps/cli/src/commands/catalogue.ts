import {
  CatalogueImage,
  type Definition,
  disableSet,
  enableSet,
  type ImageBytes,
  readDefinition,
  readSets,
  type SourceDefinition,
} from '@weir/catalogue';
import { readImage } from '@weir/control-plane/catalogue/store/catalogue-store';
import { SCHEMA } from '@weir/control-plane/configuration';
import { DomainError, type HashKey, normaliseDomain, parseHashKey } from '@weir/dns-name';
import { parseVariables } from '@weir/ops';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { build, compile } from '../catalogue/build.js';
import { check } from '../catalogue/check.js';
import { diff } from '../catalogue/diff.js';
import { show } from '../catalogue/show.js';
import {
  type Context,
  type Environment,
  Failure,
  type JsonOption,
  UsageError,
} from '../context.js';
import { withDatabase } from '../database.js';
import { controlPlaneVariables } from '../stack.js';
import { grouped } from '../terminal.js';

interface Options {
  /** Folder or URL; undefined: that of CATALOGUE. */
  readonly catalogue?: string;
}

/** Reads every source, and reports on each. */
export async function checkCatalogue(context: Context, options: Options): Promise<void> {
  await check(await definitionOf(context, options), context);
}

/** Compiles an image under DOMAIN_HASH_KEY. */
export async function buildImage(context: Context, file: string, options: Options): Promise<void> {
  const key = hashKeyOf(context.environment);
  await build(await definitionOf(context, options), file, key, context);
}

function hashKeyOf(environment: Environment): HashKey {
  const { DOMAIN_HASH_KEY } = SCHEMA;
  return parseHashKey(parseVariables({ DOMAIN_HASH_KEY }, environment).DOMAIN_HASH_KEY);
}

/**
 * Prints what is different between two images. Each is a file of `build`, the number of a version that the database
 * has, or a folder or URL of a definition, which is compiled.
 * @param newer undefined: the version in force is compared with `image`.
 */
export async function diffImages(
  context: Context,
  image: string,
  newer: string | undefined,
  options: Options & JsonOption,
): Promise<void> {
  const key = hashKeyOf(controlPlaneVariables(context.environment, 'DOMAIN_HASH_KEY'));
  const definitions: Definition[] = [];
  const open = async (place: string | undefined): Promise<ImageBytes> => {
    if (place === undefined || /^\d+$/.test(place)) return storedImage(context, place ?? null);
    if (/^https?:/i.test(place) || statSync(place, { throwIfNoEntry: false })?.isDirectory()) {
      // It is a copy of the folder of CATALOGUE, with its sets.
      const definition = await readDefinition(place, setsOf(context, {}));
      definitions.push(definition);
      return inMemory((await compile(definition, key, context)).image);
    }
    const bytes = await readFile(place).catch((error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Failure(`${place} cannot be read: ${code ?? message}`);
    });
    // It checks the sum of the bytes, and whether they were made with this key.
    CatalogueImage.open(bytes, key);
    return inMemory(bytes);
  };
  const before = await open(newer === undefined ? undefined : image);
  const after = await open(newer ?? image);
  if (options.catalogue !== undefined) definitions.push(await readDefinition(options.catalogue));
  await diff({ before, after, definitions, key, json: options.json }, context);
}

/** @param version null: the one in force. */
async function storedImage(context: Context, version: string | null): Promise<ImageBytes> {
  const image = await withDatabase(context, (pool) => readImage(pool, version));
  if (image === null) throw new Failure(`the database has no catalogue ${version ?? 'in force'}`);
  return inMemory(image);
}

function inMemory(image: Uint8Array): ImageBytes {
  return {
    sizeBytes: image.length,
    async *read(start, end) {
      yield await Promise.resolve(image.subarray(start, end));
    },
  };
}

/** Prints the categories and applications of a domain, and the lines that list it. */
export async function showDomain(context: Context, text: string, options: Options): Promise<void> {
  const domain = asDomain(text);
  await show(await definitionOf(context, options), domain, context);
}

/** Prints the sets of the folder of the catalogue. */
export async function printSets(context: Context, options: Options & JsonOption): Promise<void> {
  const { terminal } = context;
  const besides = setsOf(context, options);
  const sets = (await readSets(folderOf(context, options))).map((set) => ({
    name: set.name,
    about: set.about,
    enabled: set.isEnabled || besides.includes(set.name),
    fault: set.fault,
    sources: set.sources.map(({ name, mirrors, format, licence, commercialUse, size }) => ({
      source: name,
      mirrors: mirrors.length,
      format,
      licence,
      commercial_use: commercialUse,
      size,
    })),
  }));
  if (options.json) return terminal.print(JSON.stringify(sets));
  const rows = sets.map(({ name, about, enabled, fault, sources }) => [
    name,
    enabled ? 'on' : '-',
    lengthOf(sources.map(({ size }) => size)),
    [...new Set(sources.map(({ licence }) => licence))].join(', '),
    [...new Set(sources.map((source) => source.commercial_use))].join(', '),
    fault ?? about,
  ]);
  terminal.printTable(['set', 'on', 'names', 'licence', 'commercial use', 'what'], rows, 6);
}

/** How many names lists had together, and the month of the oldest count, such as `188,764 (2026-02)`. */
function lengthOf(sizes: readonly SourceDefinition['size'][]): string {
  const known = sizes.filter((size) => size !== null && size !== 'unknown');
  if (known.length === 0) return 'unknown';
  const names = grouped(known.reduce((sum, size) => sum + size.names, 0));
  const [month] = known.map(({ on }) => on.slice(0, 7)).sort();
  return `${known.length === sizes.length ? '' : 'over '}${names} (${month})`;
}

/** Turns a set on. */
export async function enable(context: Context, name: string, options: Options): Promise<void> {
  const folder = folderOf(context, options);
  const isNew = await enableSet(folder, name);
  const what = isNew ? 'is included from now on' : 'was included already';
  context.terminal.print(`sets/${name}.yaml ${what} in ${folder}/catalogue.yaml`);
}

/** Turns a set off. */
export async function disable(context: Context, name: string, options: Options): Promise<void> {
  const folder = folderOf(context, options);
  if (setsOf(context, options).includes(name)) {
    throw new Failure(`CATALOGUE_SETS turns ${name} on: remove it there`);
  }
  const isNew = await disableSet(folder, name);
  const what = isNew ? 'is no longer included' : 'was not included';
  context.terminal.print(`sets/${name}.yaml ${what} in ${folder}/catalogue.yaml`);
}

/** Sets are of a folder: nobody could list those of a URL, or write there. */
function folderOf(context: Context, options: Options): string {
  const place = placeOf(context, options);
  if (!/^https?:/i.test(place)) return place;
  throw new UsageError(
    `the catalogue ${place} is no folder: change its include where it is edited`,
  );
}

function definitionOf(context: Context, options: Options): Promise<Definition> {
  return readDefinition(placeOf(context, options), setsOf(context, options));
}

/** Those of CATALOGUE_SETS, which is about the folder of CATALOGUE. */
function setsOf({ environment }: Context, { catalogue }: Options): readonly string[] {
  if (catalogue !== undefined) return [];
  const { CATALOGUE_SETS } = SCHEMA;
  return parseVariables({ CATALOGUE_SETS }, environment).CATALOGUE_SETS ?? [];
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
