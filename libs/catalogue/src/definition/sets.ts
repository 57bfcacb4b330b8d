import { chmod, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isScalar, isSeq, type Node, parseDocument } from 'yaml';
import { CatalogueError } from '../catalogue-error.js';
import type { SourceDefinition } from './definition.js';
import { DEFINITION_FILE, parseEach } from './parse-definition.js';
import { namesOfSets, pathOfSet, readText } from './read-definition.js';

/** A file of the folder `sets`: sources that are turned on together, because `catalogue.yaml` includes it. */
interface CatalogueSet {
  /** Of its file, without `.yaml`. */
  readonly name: string;
  /** The comment at its beginning, in one line. */
  readonly about: string;
  readonly isEnabled: boolean;
  /** Those that no set before it has; none of a file with a fault. */
  readonly sources: readonly SourceDefinition[];
  /** Why it cannot be on; null: it can. */
  readonly fault: string | null;
}

/** The sets of a folder, by name. @throws CatalogueError as `readDefinition`, for faults of other files. */
export async function readSets(folder: string): Promise<CatalogueSet[]> {
  const names = await namesOfSets(folder);
  const texts = new Map<string, string>();
  const read = async (path: string): Promise<string> => {
    const text = await readText({ path: join(folder, path) });
    texts.set(path, text);
    return text;
  };
  const { included, sources } = await parseEach(read, { path: folder }, names.map(pathOfSet));
  return names.map((name, index) => {
    const own = sources[index];
    return {
      name,
      about: commentOf(texts.get(pathOfSet(name)) ?? ''),
      isEnabled: included.includes(pathOfSet(name)),
      ...(own instanceof CatalogueError
        ? { sources: [], fault: own.message }
        : { sources: own, fault: null }),
    };
  });
}

/**
 * Makes `catalogue.yaml` include a set; its other lines stay. @returns false when it includes it already.
 * @throws CatalogueError when there is no such set or it has a fault, or the file cannot be read or written.
 */
export async function enableSet(folder: string, name: string): Promise<boolean> {
  const set = (await readSets(folder)).find((one) => one.name === name);
  if (set === undefined) throw noSet(folder, name);
  if (set.fault !== null) throw new CatalogueError(set.fault);
  if (set.isEnabled) return false;
  return edit(folder, pathOfSet(name), true);
}

/**
 * Makes `catalogue.yaml` no longer include a set. @returns false when it does not include it.
 * @throws CatalogueError when there is no such set, or `catalogue.yaml` cannot be read or written.
 */
export async function disableSet(folder: string, name: string): Promise<boolean> {
  const isChanged = await edit(folder, pathOfSet(name), false);
  if (!isChanged && !(await namesOfSets(folder)).includes(name)) throw noSet(folder, name);
  return isChanged;
}

/** Adds a file to the `include` of `catalogue.yaml`, or removes it. @returns false when nothing changes. */
async function edit(folder: string, path: string, isIncluded: boolean): Promise<boolean> {
  const named = join(folder, DEFINITION_FILE);
  const before = await readText({ path: named });
  const after = isIncluded ? including(before, path) : excluding(before, path);
  if (after === before) return false;
  const files = (includedBy(before) ?? []) as readonly unknown[];
  const wanted = isIncluded ? [...files, path] : files.filter((one) => one !== path);
  // An unusual layout must not become a file that nobody can read.
  if (!isDeepStrictEqual(includedBy(after), wanted)) {
    const what = isIncluded ? `add ${path} to` : `remove ${path} from`;
    throw new CatalogueError(`${named} has a layout that is not edited: ${what} its include`);
  }
  try {
    const file = await realpath(named);
    const { mode } = await stat(file);
    await writeFile(`${file}.part`, after, { mode });
    await chmod(`${file}.part`, mode);
    await rename(`${file}.part`, file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CatalogueError(`${named} cannot be written: ${code ?? message}`, { cause });
  }
  return true;
}

function noSet(folder: string, name: string): CatalogueError {
  return new CatalogueError(`${join(folder, 'sets')} has no set ${name}`);
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
  // The last item of a block may have a comment behind it.
  const at = isFlow ? last : last + text.slice(last).search(/$/m);
  return text.slice(0, at) + added + text.slice(at);
}

/** The text of a definition with one file less in its `include`. */
function excluding(text: string, path: string): string {
  const list = parseDocument(text).get('include', true);
  if (!isSeq<Node>(list)) return text;
  const index = list.items.findIndex((item) => isScalar(item) && item.value === path);
  const [start, end] = list.items[index]?.range ?? [0, 0];
  if (end === 0) return text;
  const lineStart = text.lastIndexOf('\n', start) + 1;
  const lineEnd = text.indexOf('\n', end) + 1 || text.length;
  const isFlow = list.flow === true;
  const isAlone =
    text.slice(lineStart, start).trim() === '' &&
    /^,?\s*(?:#.*)?$/.test(text.slice(end, lineEnd).trim()) &&
    !/^\s*,/.test(text.slice(lineEnd));
  if (isFlow && !isAlone) {
    const before = list.items[index - 1]?.range?.[1] ?? start;
    const hasComma = before < start && /^\s*,\s*$/.test(text.slice(before, start));
    // Comments stay, so a comma may stay behind the item before.
    const comma = /^\s*,(?:[ \t]+(?=[^\s#]))?/.exec(text.slice(end))?.[0].length ?? 0;
    return hasComma
      ? text.slice(0, before) + text.slice(end)
      : text.slice(0, start) + text.slice(end + comma);
  }
  // A block without items would be null.
  const rest = isFlow || list.items.length > 1 ? '' : `${' '.repeat(start - lineStart)}[]\n`;
  return text.slice(0, lineStart) + rest + text.slice(lineEnd);
}

/** What a definition includes; undefined: nothing, or it is not YAML. */
function includedBy(text: string): unknown {
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  return (document.toJS() as { readonly include?: unknown }).include;
}
