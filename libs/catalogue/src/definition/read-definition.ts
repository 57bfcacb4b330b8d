import { resolve } from 'node:path';
import { CatalogueError } from '../catalogue-error.js';
import { openLocation } from '../sources/open-source.js';
import type { SourceLocation } from '../sources/source.js';
import type { Definition } from './definition.js';
import { parseDefinition, type Base, publicName, resolveFile } from './parse-definition.js';

const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * Reads `catalogue.yaml` and what it includes from a folder, or from an http(s) URL of such a folder.
 * @throws CatalogueError in one line: what cannot be read, or the first fault as `catalogue.yaml:line: field: problem`.
 */
export async function readDefinition(folderOrUrl: string): Promise<Definition> {
  const base = baseOf(folderOrUrl);
  return parseDefinition((path) => readText(resolveFile(base, path)), base);
}

function baseOf(folderOrUrl: string): Base {
  const url = /^https?:\/\//i.test(folderOrUrl) ? URL.parse(folderOrUrl) : null;
  if (url === null) return { path: resolve(folderOrUrl) };
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return { url: url.href };
}

export async function readText(location: SourceLocation): Promise<string> {
  try {
    const opened = await openLocation(location, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
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
