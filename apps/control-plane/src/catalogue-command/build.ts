import {
  CatalogueError,
  compileCatalogue,
  type Definition,
  type GroupDefinition,
  type ListedGroup,
  NameList,
  readNames,
  sourcesOf,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { rename, rm, writeFile } from 'node:fs/promises';
import { withSource } from './read-source.js';
import { grouped, type Terminal } from './terminal.js';

/** Compiles an image and writes it to a file atomically. */
export async function build(
  definition: Definition,
  file: string,
  key: HashKey,
  terminal: Terminal,
): Promise<void> {
  const lists = new Map<string, NameList>();
  for (const source of sourcesOf(definition)) {
    const { names } = await withSource(source, terminal, (body) =>
      readNames(body, source.format, key),
    );
    if (names.count === 0) {
      throw new CatalogueError(`${source.declaredAt}: ${source.name} lists no domain`);
    }
    lists.set(source.name, names);
  }
  const listed = ({ id, name, domains, sources, rewrites }: GroupDefinition): ListedGroup => ({
    id,
    name,
    lists: [
      NameList.of(domains, key),
      ...sources.map((source) => lists.get(source.name) as NameList),
    ],
    rewrites,
  });
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
