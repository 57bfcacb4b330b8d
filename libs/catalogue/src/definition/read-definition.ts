import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CatalogueError } from '../catalogue-error.js';
import { openLocation } from '../sources/open-source.js';
import type { SourceLocation } from '../sources/source.js';
import type { Definition } from './definition.js';
import { parseDefinition, type Base, publicName, resolveFile } from './parse-definition.js';

const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** A definition, and the SHA-256 of each of its files by path. The same files make the same definition. */
export interface DigestedDefinition {
  readonly definition: Definition;
  readonly digests: ReadonlyMap<string, string>;
}

/**
 * Reads `catalogue.yaml` and what it includes from a folder, or from an http(s) URL of such a folder.
 * @param sets names of sets that are on besides those that it includes.
 * @throws CatalogueError in one line: what cannot be read, or the first fault as `catalogue.yaml:line: field: problem`.
 */
export async function readDefinition(
  folderOrUrl: string,
  sets: readonly string[] = [],
): Promise<Definition> {
  return (await readWithDigests(folderOrUrl, sets)).definition;
}

/** Like `readDefinition`, with what `isSameDefinition` compares. */
export async function readWithDigests(
  folderOrUrl: string,
  sets: readonly string[],
): Promise<DigestedDefinition> {
  const base = baseOf(folderOrUrl);
  if ('path' in base && sets.length > 0) {
    const known = await namesOfSets(base.path);
    const unknown = sets.find((name) => !known.includes(name));
    if (unknown !== undefined) {
      const there = known.join(', ') || 'none';
      throw new CatalogueError(`CATALOGUE_SETS: no set ${unknown}; there are: ${there}`);
    }
  }
  const digests = new Map<string, string>();
  const read = async (path: string): Promise<string> => {
    const text = await readText(resolveFile(base, path));
    digests.set(path, hash('sha256', text));
    return text;
  };
  return { definition: await parseDefinition(read, base, sets.map(pathOfSet)), digests };
}

/** Whether each file of a definition can be read and still has the text of its digest. Parses nothing. */
export async function isSameDefinition(
  folderOrUrl: string,
  digests: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<boolean> {
  const base = baseOf(folderOrUrl);
  try {
    for (const [path, digest] of digests) {
      const text = await readText(resolveFile(base, path), signal);
      if (hash('sha256', text) !== digest) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof CatalogueError) return false;
    throw error;
  }
}

/** Of a set, relative to the folder. */
export function pathOfSet(name: string): string {
  return `sets/${name}.yaml`;
}

/** The names of the sets of a folder, in order. */
export async function namesOfSets(folder: string): Promise<string[]> {
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

function baseOf(folderOrUrl: string): Base {
  const url = /^https?:\/\//i.test(folderOrUrl) ? URL.parse(folderOrUrl) : null;
  if (url === null) return { path: resolve(folderOrUrl) };
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return { url: url.href };
}

export async function readText(location: SourceLocation, signal?: AbortSignal): Promise<string> {
  try {
    const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS };
    const opened = await openLocation(location, { ...limits, ...(signal && { signal }) });
    if (opened.status === 'unchanged') throw new CatalogueError('answered 304 unasked');
    return decode(Buffer.concat(await Array.fromAsync(opened.body)));
  } catch (cause) {
    if (!(cause instanceof CatalogueError)) throw cause;
    const name = 'url' in location ? publicName(new URL(location.url)) : location.path;
    throw new CatalogueError(`${name}: ${cause.message}`, { cause });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CatalogueError('is not UTF-8 text', { cause });
  }
}
