import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isSeq, type Node, parseDocument } from 'yaml';
import { CatalogueError } from '../catalogue-error.js';
import { type SourceDefinition, sourcesOf } from './definition.js';
import { DEFINITION_FILE, parseDefinition } from './parse-definition.js';
import { readDefinition } from './read-definition.js';

/** A file of the folder `sets`: sources that are turned on together, because `catalogue.yaml` includes it. */
export interface CatalogueSet {
  /** Of its file, without `.yaml`. */
  readonly name: string;
  /** The comment at its beginning, in one line. */
  readonly about: string;
  readonly isEnabled: boolean;
  readonly sources: readonly SourceDefinition[];
}

/**
 * The sets of a folder with a `catalogue.yaml`, by name; none when it has no folder `sets`.
 * @throws CatalogueError as `readDefinition` does, for faults of the sets too.
 */
export async function readSets(folder: string): Promise<CatalogueSet[]> {
  const { included } = await readDefinition(folder);
  const names = await namesOfSets(folder);
  const texts = new Map<string, string>();
  const read = async (path: string): Promise<string> => {
    const text = await readFile(join(folder, path), 'utf8');
    texts.set(path, text);
    return text;
  };
  const others = names.map(pathOf).filter((path) => !included.includes(path));
  const sources = sourcesOf(await parseDefinition(read, { path: folder }, others));
  return names.map((name) => ({
    name,
    about: commentOf(texts.get(pathOf(name)) ?? ''),
    isEnabled: included.includes(pathOf(name)),
    sources: sources.filter(({ declaredAt }) => declaredAt.startsWith(`${pathOf(name)}:`)),
  }));
}

/**
 * Makes `catalogue.yaml` include a set; its other lines stay as they are.
 * @returns false when it includes it already.
 * @throws CatalogueError when there is no such set, or the file cannot be read or written.
 */
export async function enableSet(folder: string, name: string): Promise<boolean> {
  const set = (await readSets(folder)).find((one) => one.name === name);
  if (set === undefined) throw new CatalogueError(`${join(folder, 'sets')} has no set ${name}`);
  if (set.isEnabled) return false;
  const file = join(folder, DEFINITION_FILE);
  const path = pathOf(name);
  const before = await readFile(file, 'utf8');
  const text = including(before, path);
  const files = (includedBy(before) ?? []) as readonly unknown[];
  // An unusual layout must not become a file that nobody can read.
  if (!isDeepStrictEqual(includedBy(text), [...files, path])) {
    throw new CatalogueError(`${file} has a layout that is not edited: add ${path} to its include`);
  }
  try {
    await writeFile(`${file}.part`, text);
    await rename(`${file}.part`, file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CatalogueError(`${file} cannot be written: ${code ?? message}`, { cause });
  }
  return true;
}

function pathOf(name: string): string {
  return `sets/${name}.yaml`;
}

async function namesOfSets(folder: string): Promise<string[]> {
  try {
    const files = await readdir(join(folder, 'sets'));
    return files.flatMap((file) => (file.endsWith('.yaml') ? [file.slice(0, -5)] : [])).sort();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new CatalogueError(`${join(folder, 'sets')} cannot be read: ${code ?? message}`, {
      cause,
    });
  }
}

function commentOf(text: string): string {
  const lines = /^(?:#.*\n)*/.exec(text)?.[0].split('\n') ?? [];
  return lines
    .map((line) => line.replace(/^#\s*/, ''))
    .join(' ')
    .trim();
}

/** The text of a definition with one more file in its `include`. */
function including(text: string, path: string): string {
  const document = parseDocument(text);
  const list = document.get('include', true) as Node | undefined;
  if (list === undefined) {
    const start = (document.contents as Node | null)?.range?.[0] ?? text.length;
    return `${text.slice(0, start)}include: [${path}]\n\n${text.slice(start)}`;
  }
  if (!isSeq<Node>(list) || !list.range) throw new CatalogueError('include must be a list');
  const last = list.items.at(-1)?.range?.[1] ?? list.range[0] + 1;
  const isFlow = list.flow === true;
  const indent = /[^\n]*$/.exec(text.slice(0, list.range[0]))?.[0] ?? '';
  const added = isFlow ? `${list.items.length > 0 ? ', ' : ''}${path}` : `\n${indent}- ${path}`;
  return text.slice(0, last) + added + text.slice(last);
}

/** What a definition includes; undefined: nothing, or it is not YAML. */
function includedBy(text: string): unknown {
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  return (document.toJS() as { readonly include?: unknown }).include;
}
