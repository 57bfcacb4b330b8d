import { MAX_ID } from '@weir/config-model';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import { type Purpose, PURPOSES } from '@weir/policy';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { CatalogueError, DefinitionFaults } from '../catalogue-error.js';
import { LIST_FORMATS, type ListFormat } from '../lists/list.js';
import { isPublicSuffix } from '../lists/never-block.js';
import { isProtected } from '../sources/open-url.js';
import type { SourceLocation } from '../sources/source.js';
import {
  COMMERCIAL_USES,
  type CommercialUse,
  type Definition,
  type GroupDefinition,
  type RewriteDefinition,
  type SourceDefinition,
} from './definition.js';
import { type Place, YamlReader } from './yaml-reader.js';

export const DEFINITION_FILE = 'catalogue.yaml';
const MAX_NAME = 200;
const MAX_DOMAIN = 1024;

/**
 * Reads the text of a definition; its sources are named, not opened.
 * @param base the folder or URL that file names are relative to.
 * @throws CatalogueError for a fault, as `catalogue.yaml:line: field: problem`; DefinitionFaults for several.
 */
export function parseDefinition(text: string, base: Base): Definition {
  const yaml = new YamlReader(DEFINITION_FILE, text);
  const top = yaml.fields(yaml.root, ['categories', 'applications', 'never_block']);
  const reader = new GroupReader(yaml, base);
  const categories = reader.read(top.categories, CATEGORY_FIELDS, true);
  const applications = reader.read(top.applications, APPLICATION_FIELDS, false);
  const neverBlock = reader.neverBlock(top.never_block);
  reader.check();
  return { categories, applications, neverBlock };
}

const APPLICATION_FIELDS = ['id', 'name', 'domains', 'sources'] as const;
const CATEGORY_FIELDS = [...APPLICATION_FIELDS, 'rewrites', 'group', 'purpose'] as const;
type GroupField = (typeof CATEGORY_FIELDS)[number];

class GroupReader {
  private readonly faults: CatalogueError[] = [];
  private readonly sources = new Map<string, SourceDefinition>();

  constructor(
    private readonly yaml: YamlReader,
    private readonly base: Base,
  ) {}

  /** @returns groups ascending by id, without those that have a fault. */
  read(
    list: Place | undefined,
    known: readonly GroupField[],
    areCategories: boolean,
  ): GroupDefinition[] {
    const lineOfId = new Map<number, number>();
    const groups = this.each(list, (place) => this.group(place, known, lineOfId));
    return groups
      .map((group) => ({ ...group, isGuarded: areCategories && group.purpose !== 'legal' }))
      .sort((a, b) => a.id - b.id);
  }

  neverBlock(list: Place | undefined): string[] {
    return this.each(list, (place) => {
      const domain = this.domain(place);
      // A list names public suffixes in vain, and most of its names are below one.
      if (isPublicSuffix(domain)) throw this.yaml.fail(place, `"${domain}" is a public suffix`);
      return domain;
    });
  }

  /** @throws CatalogueError when anything that was read has a fault. */
  check(): void {
    if (this.faults.length === 1) throw this.faults[0];
    if (this.faults.length > 1) {
      throw new DefinitionFaults(this.faults.map(({ message }) => message));
    }
  }

  /** The items of a list; a fault in one does not hide those in others. */
  private each<T>(list: Place | undefined, read: (item: Place) => T): T[] {
    return this.yaml.items(list).flatMap((item) => {
      try {
        return [read(item)];
      } catch (error) {
        if (!(error instanceof CatalogueError)) throw error;
        this.faults.push(error);
        return [];
      }
    });
  }

  private group(
    place: Place,
    known: readonly GroupField[],
    lineOfId: Map<number, number>,
  ): Omit<GroupDefinition, 'isGuarded'> {
    const { yaml } = this;
    const fields = yaml.fields(place, known);
    const idPlace = yaml.required(place, fields, 'id');
    const id = yaml.integer(idPlace, 0, MAX_ID);
    const taken = lineOfId.get(id);
    if (taken !== undefined) {
      throw yaml.fail(idPlace, `id ${id} stands in line ${taken} already`);
    }
    lineOfId.set(id, yaml.line(idPlace));
    const domains = this.each(fields.domains, (item) => ({
      domain: this.domain(item),
      line: yaml.line(item),
    }));
    return {
      id,
      name: yaml.text(yaml.required(place, fields, 'name'), MAX_NAME),
      group: fields.group === undefined ? null : yaml.text(fields.group, MAX_NAME),
      purpose: fields.purpose === undefined ? 'other' : this.purpose(fields.purpose),
      domains: domains.map(({ domain }) => domain),
      domainLines: domains.map(({ line }) => line),
      sources: this.each(fields.sources, (item) => this.source(item)),
      rewrites: this.each(fields.rewrites, (item) => this.rewrite(item)),
    };
  }

  private purpose(place: Place): Purpose {
    const word = this.yaml.text(place, MAX_NAME);
    const purpose = PURPOSES.find((known) => known === word);
    if (purpose === undefined) {
      throw this.yaml.fail(place, `must be one of ${PURPOSES.join(', ')}`);
    }
    return purpose;
  }

  private rewrite(place: Place): RewriteDefinition {
    const { yaml } = this;
    const fields = yaml.fields(place, ['to', 'names']);
    const to = this.domain(yaml.required(place, fields, 'to'));
    const names = this.each(yaml.required(place, fields, 'names'), (item) => {
      const name = this.domain(item);
      if (name === to) throw yaml.fail(item, `"${name}" is rewritten to itself`);
      return name;
    });
    return { to, names };
  }

  private domain(place: Place): string {
    const text = this.yaml.text(place, MAX_DOMAIN);
    try {
      return normaliseDomain(text);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw this.yaml.fail(place, `${JSON.stringify(text)} ${error.message}`);
    }
  }

  /**
   * Several groups may name one source, with all else equal: its state and its list are stored by name.
   */
  private source(place: Place): SourceDefinition {
    const source = readSource(this.yaml, place, this.base);
    const known = this.sources.get(source.name) ?? source;
    this.sources.set(source.name, known);
    const equal = (['format', 'refreshMs', 'sha256', 'licence', 'commercialUse'] as const).every(
      (field) => known[field] === source[field],
    );
    if (!equal) {
      const fields = 'format, refresh, sha256, licence or commercial_use';
      throw this.yaml.fail(place, `${source.name} has another ${fields} at ${known.declaredAt}`);
    }
    return known;
  }
}

const MAX_LOCATION = 2048;
const MAX_WORD = 200;
const DEFAULT_REFRESH_MS = 24 * 3_600_000;
const MIN_REFRESH_MS = 10_000;
const MAX_REFRESH_MS = 30 * 24 * 3_600_000;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The base of the file names of a definition: the path of a folder, or an http(s) URL that ends with a slash. */
export type Base = SourceLocation;

const SOURCE_FIELDS = [
  'file',
  'url',
  'format',
  'refresh',
  'sha256',
  'licence',
  'commercial_use',
] as const;

/** Reads one item of `sources`. */
function readSource(yaml: YamlReader, place: Place, base: Base): SourceDefinition {
  const fields = yaml.fields(place, SOURCE_FIELDS);
  const { file, url, refresh, sha256 } = fields;
  if ((file === undefined) === (url === undefined)) {
    throw yaml.fail(place, 'must have either file or url');
  }
  const format = readFormat(yaml, yaml.required(place, fields, 'format'));
  const about = {
    declaredAt: yaml.where(place),
    licence: fields.licence === undefined ? null : yaml.text(fields.licence, MAX_WORD),
    commercialUse:
      fields.commercial_use === undefined ? null : readCommercialUse(yaml, fields.commercial_use),
  };
  if (file !== undefined) {
    if (refresh !== undefined) {
      throw yaml.fail(refresh, 'is for a url only: files are read with the definition');
    }
    if (sha256 !== undefined) throw yaml.fail(sha256, 'is for a url only');
    const name = readPath(yaml, file);
    const location = 'path' in base ? { path: join(base.path, name) } : resolved(base.url, name);
    return { name, location, format, sha256: null, refreshMs: null, ...about };
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
    ...about,
  };
}

function readCommercialUse(yaml: YamlReader, place: Place): CommercialUse {
  const use = COMMERCIAL_USES.find((known) => known === yaml.word(place));
  if (use === undefined) throw yaml.fail(place, `must be one of ${COMMERCIAL_USES.join(', ')}`);
  return use;
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
