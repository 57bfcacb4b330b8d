import {
  CatalogueError,
  compileCatalogue,
  type CompiledCatalogue,
  type Definition,
  type GroupDefinition,
  type ListedGroup,
  NameList,
  type ReadList,
  type SourceDefinition,
  sourcesOf,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { replaceableFile } from '@weir/ops';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { Context } from '../context.js';
import { grouped } from '../terminal.js';
import { readList } from './read-source.js';

/** Compiles an image and writes it to a file atomically. */
export async function build(
  definition: Definition,
  file: string,
  key: HashKey,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const { image, sha256, domainCount } = await compile(definition, key, context);
  await writeWhole(file, image);
  const bytesEach =
    domainCount === 0 ? '' : `, ${(image.length / domainCount).toFixed(1)} a domain`;
  terminal.print(
    `${file}: ${grouped(domainCount)} domains`,
    `${grouped(image.length)} bytes${bytesEach}`,
    `sha256 ${sha256}`,
  );
}

/** Reads all sources, and compiles them. */
export async function compile(
  definition: Definition,
  key: HashKey,
  context: Context,
): Promise<CompiledCatalogue> {
  const lists = new Map<SourceDefinition, ReadList>();
  for (const source of sourcesOf(definition)) {
    lists.set(source, await readList(source, definition, key, context));
  }
  return compileLists(definition, lists, key);
}

/** Compiles what was read of its sources. */
export function compileLists(
  definition: Definition,
  lists: ReadonlyMap<SourceDefinition, ReadList>,
  key: HashKey,
): CompiledCatalogue {
  const listed = (group: GroupDefinition): ListedGroup => {
    const taken = group.sources.flatMap((source) => {
      const list = lists.get(source);
      if (list === undefined) return [];
      return group.isGuarded ? list.names.without(list.protectedNames) : list.names;
    });
    return { ...group, lists: [NameList.of(group.domains, key), ...taken] };
  };
  return compileCatalogue(
    {
      categories: definition.categories.map(listed),
      applications: definition.applications.map(listed),
    },
    key,
  );
}

async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  let partial: string | undefined;
  try {
    const replaced = await replaceableFile(file);
    partial = `${replaced}.part`;
    await writeFile(partial, bytes);
    await rename(partial, replaced);
  } catch (cause) {
    if (partial !== undefined) await rm(partial, { force: true });
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CatalogueError(`${file} cannot be written: ${code ?? message}`, { cause });
  }
}
