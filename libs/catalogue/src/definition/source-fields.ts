import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LIST_FORMATS, type ListFormat } from '../lists/list-limits.js';
import { isProtected } from '../sources/open-url.js';
import type { SourceLocation } from '../sources/source.js';
import type { SourceDefinition } from './definition.js';
import type { Place, YamlReader } from './yaml-reader.js';

const MAX_LOCATION = 2048;
const MAX_WORD = 200;
const DEFAULT_REFRESH_MS = 24 * 3_600_000;
const MIN_REFRESH_MS = 10_000;
const MAX_REFRESH_MS = 30 * 24 * 3_600_000;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The base of the file names of a definition: the path of a folder, or an http(s) URL that ends with a slash. */
export type Base = SourceLocation;

/** Reads one item of `sources`. */
export function readSource(yaml: YamlReader, place: Place, base: Base): SourceDefinition {
  const fields = yaml.fields(place, ['file', 'url', 'format', 'refresh', 'sha256']);
  const { file, url, refresh, sha256 } = fields;
  if ((file === undefined) === (url === undefined)) {
    throw yaml.fail(place, 'must have either file or url');
  }
  const format = readFormat(yaml, yaml.required(place, fields, 'format'));
  const declaredAt = yaml.where(place);
  if (file !== undefined) {
    if (refresh !== undefined) {
      throw yaml.fail(refresh, 'is for a url only: files are read with the definition');
    }
    if (sha256 !== undefined) throw yaml.fail(sha256, 'is for a url only');
    const name = readPath(yaml, file);
    const location = 'path' in base ? { path: join(base.path, name) } : resolved(base.url, name);
    return { name, location, format, sha256: null, refreshMs: null, declaredAt };
  }
  const address = readUrl(yaml, url as Place);
  if (sha256 === undefined && !isProtected(address)) {
    const problem = 'must be an https URL, or have the sha256 of its list: others could change it';
    throw yaml.fail(url as Place, problem);
  }
  return {
    name: publicName(address),
    location: { url: address.href },
    format,
    sha256: sha256 === undefined ? null : readDigest(yaml, sha256),
    refreshMs: refresh === undefined ? DEFAULT_REFRESH_MS : readRefresh(yaml, refresh),
    declaredAt,
  };
}

function readFormat(yaml: YamlReader, place: Place): ListFormat {
  const word = yaml.text(place, MAX_WORD);
  const format = LIST_FORMATS.find((known) => known === word);
  if (format === undefined) throw yaml.fail(place, `must be one of ${LIST_FORMATS.join(', ')}`);
  return format;
}

function readPath(yaml: YamlReader, place: Place): string {
  const path = yaml.text(place, MAX_LOCATION);
  if (path.startsWith('/') || path.includes('\\') || path.split('/').includes('..')) {
    throw yaml.fail(place, 'must be a path within the folder');
  }
  return path;
}

function resolved(base: string, path: string): SourceLocation {
  return { url: new URL(path.split('/').map(encodeURIComponent).join('/'), base).href };
}

function readUrl(yaml: YamlReader, place: Place): URL {
  const url = URL.parse(yaml.text(place, MAX_LOCATION));
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw yaml.fail(place, 'must be an http or https URL');
  }
  return url;
}

function readDigest(yaml: YamlReader, place: Place): string {
  const digest = yaml.text(place, MAX_WORD);
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw yaml.fail(place, 'must be a SHA-256 of 64 lower-case hexadecimal digits');
  }
  return digest;
}

function readRefresh(yaml: YamlReader, place: Place): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(yaml.text(place, MAX_WORD)) ?? [];
  const refreshMs = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!(refreshMs >= MIN_REFRESH_MS && refreshMs <= MAX_REFRESH_MS)) {
    throw yaml.fail(place, 'must be a number with s, m, h or d, from 10s to 30d');
  }
  return refreshMs;
}

/** A URL without its secrets: no user and password, and a digest in place of the query. */
export function publicName(url: URL): string {
  const query = url.search === '' ? '' : `?${digest(url.search)}`;
  return `${url.origin}${url.pathname}${query}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
