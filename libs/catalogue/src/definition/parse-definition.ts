import { MAX_ID } from '@weir/config-model';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import { PURPOSES } from '@weir/policy';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CatalogueError, DefinitionFaults } from '../catalogue-error.js';
import { LIST_FORMATS, type ListFormat } from '../lists/list.js';
import { isPublicSuffix } from '../lists/never-block.js';
import { parseTransferUrl, TRANSFER_PROTOCOL } from '../sources/open-transfer.js';
import { isProtected } from '../sources/open-url.js';
import type { SourceLocation } from '../sources/source.js';
import {
  COMMERCIAL_USES,
  type Definition,
  type FilePlace,
  type GroupDefinition,
  type ListSize,
  type RewriteDefinition,
  type SourceDefinition,
} from './definition.js';
import { MAX_WORD, type Place, YamlReader } from './yaml-reader.js';

export const DEFINITION_FILE = 'catalogue.yaml';
const MAX_NAME = 200;
const MAX_DOMAIN = 1024;

/** The text of a file, by its path relative to the folder. @throws CatalogueError as `readDefinition`. */
type ReadText = (path: string) => Promise<string>;

/**
 * Reads a definition: `catalogue.yaml`, then the files that it includes; sources are named, not opened. A file that is
 * included may add domains, sources and rewrites to categories and applications of the files before it.
 * @param base the folder or URL that file names are relative to.
 * @param further files that are included whether `catalogue.yaml` says so or not.
 * @throws CatalogueError for a fault, as `catalogue.yaml:line: field: problem`; DefinitionFaults for several.
 */
export async function parseDefinition(
  read: ReadText,
  base: Base,
  further: readonly string[] = [],
): Promise<Definition> {
  const { reader, included: named } = await begin(read, base);
  const included = [...named, ...new Set(further).difference(new Set(named))];
  for (const path of included) await readFurther(reader, path, read);
  return { ...reader.finish(), included };
}

/**
 * Reads a definition with further files, each of which may have faults.
 * @param paths files that `catalogue.yaml` includes, or would.
 * @returns for each file its sources, or its first fault.
 * @throws CatalogueError as `parseDefinition`, for faults of the other files.
 */
export async function parseEach(
  read: ReadText,
  base: Base,
  paths: readonly string[],
): Promise<Pick<Definition, 'included'> & { sources: (SourceDefinition[] | CatalogueError)[] }> {
  const { reader, included } = await begin(read, base);
  for (const path of included) if (!paths.includes(path)) await readFurther(reader, path, read);
  reader.finish();
  const sources: (SourceDefinition[] | CatalogueError)[] = [];
  for (const path of paths) {
    try {
      await readFurther(reader, path, read);
      reader.finish();
      const all = [...reader.sources.values()];
      sources.push(all.filter(({ declaredAt }) => declaredAt.startsWith(`${path}:`)));
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      reader.faults.length = 0;
      sources.push(error);
    }
  }
  return { included, sources };
}

async function begin(
  read: ReadText,
  base: Base,
): Promise<{ reader: DefinitionReader; included: string[] }> {
  const yaml = new YamlReader(DEFINITION_FILE, await read(DEFINITION_FILE));
  const reader = new DefinitionReader(base, yaml);
  return { reader, included: reader.file(yaml, [...FILE_FIELDS, 'include', 'never_block']) };
}

async function readFurther(reader: DefinitionReader, path: string, read: ReadText): Promise<void> {
  reader.file(new YamlReader(path, await read(path)), FILE_FIELDS);
}

type FileField = 'categories' | 'applications' | 'include' | 'never_block';
const FILE_FIELDS = ['categories', 'applications'] as const satisfies FileField[];
const APPLICATION_FIELDS = ['id', 'name', 'domains', 'sources'] as const;
/** What only the first entry of a category may say. */
const OWN_FIELDS = ['group', 'purpose', 'mandatory', 'secret', 'sample'] as const;
const CATEGORY_FIELDS = [...APPLICATION_FIELDS, 'rewrites', ...OWN_FIELDS] as const;
type GroupField = (typeof CATEGORY_FIELDS)[number];
type GroupFields = Partial<Record<GroupField, Place>>;

/** A group, and where its id was first. */
type Groups = Map<number, { readonly group: GroupDefinition; readonly place: FilePlace }>;

/** Reads the files of a definition, one after the other. */
class DefinitionReader {
  readonly faults: CatalogueError[] = [];
  readonly sources = new Map<string, SourceDefinition>();
  private readonly categories: Groups = new Map();
  private readonly applications: Groups = new Map();
  private neverBlock: string[] = [];

  /** @param yaml the file that is read. */
  constructor(
    private readonly base: Base,
    private yaml: YamlReader,
  ) {}

  /** Adds the groups that have no fault. @returns the files that it includes. */
  file(yaml: YamlReader, known: readonly FileField[]): string[] {
    this.yaml = yaml;
    const top = yaml.fields(yaml.root, known);
    this.each(top.categories, (item) => this.group(item, CATEGORY_FIELDS, this.categories));
    this.each(top.applications, (item) => this.group(item, APPLICATION_FIELDS, this.applications));
    const domains = this.each(top.never_block, (item) => this.protectedDomain(item));
    this.neverBlock = [...this.neverBlock, ...domains];
    return this.each(top.include, (item) => readPath(yaml, item));
  }

  /** @throws CatalogueError when anything that was read has a fault. */
  finish(): Omit<Definition, 'included'> {
    const { faults, neverBlock } = this;
    if (faults.length === 1) throw faults[0];
    if (faults.length > 1) throw new DefinitionFaults(faults.map(({ message }) => message));
    const sorted = (groups: Groups): GroupDefinition[] =>
      [...groups.values()].map(({ group }) => group).sort((a, b) => a.id - b.id);
    const categories = sorted(this.categories).map((group) => ({
      ...group,
      isGuarded: group.purpose !== 'legal',
      isSample: group.isSample && group.sources.length === 0,
    }));
    return { categories, applications: sorted(this.applications), neverBlock };
  }

  private protectedDomain(place: Place): string {
    const domain = this.domain(place);
    // A list names public suffixes in vain, and most of its names are below one.
    if (isPublicSuffix(domain)) throw this.yaml.fail(place, `"${domain}" is a public suffix`);
    return domain;
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

  private group(place: Place, known: readonly GroupField[], groups: Groups): void {
    const { yaml } = this;
    const fields = yaml.fields(place, known);
    const idPlace = yaml.required(place, fields, 'id');
    const id = yaml.integer(idPlace, 0, MAX_ID);
    const before = groups.get(id);
    if (before !== undefined) this.checkAddition(idPlace, fields, id, before.place);
    const group = before?.group ?? this.newGroup(place, fields, id);
    if (group.secret && fields.rewrites !== undefined) {
      throw yaml.fail(fields.rewrites, 'would tell names of a secret category');
    }
    const domains = this.each(fields.domains, (item) => ({
      domain: this.domain(item, group.secret),
      place: yaml.filePlace(item),
    }));
    const sources = this.each(fields.sources, (item) => this.source(item));
    const rewrites = this.each(fields.rewrites, (item) => this.rewrite(item));
    groups.set(id, {
      place: before?.place ?? yaml.filePlace(idPlace),
      group: {
        ...group,
        domains: [...group.domains, ...domains.map(({ domain }) => domain)],
        domainPlaces: [...group.domainPlaces, ...domains.map((one) => one.place)],
        sources: [...group.sources, ...sources],
        rewrites: [...group.rewrites, ...rewrites],
      },
    });
  }

  /** Own fields would have no effect, and a category that should be mandatory would not be. */
  private checkAddition(
    idPlace: Place,
    fields: GroupFields,
    id: number,
    { file, line }: FilePlace,
  ): void {
    const isOfOther = file !== this.yaml.file;
    if (!isOfOther || fields.name !== undefined) {
      const where = isOfOther ? `${file}:${line}` : `line ${line}`;
      throw this.yaml.fail(idPlace, `id ${id} stands in ${where} already`);
    }
    for (const name of OWN_FIELDS) {
      const field = fields[name];
      if (field !== undefined) throw this.yaml.fail(field, `must be said at ${file}:${line}`);
    }
  }

  private newGroup(place: Place, fields: GroupFields, id: number): GroupDefinition {
    const { yaml } = this;
    const isMandatory = yaml.flag(fields.mandatory);
    const isSecret = yaml.flag(fields.secret);
    if (isSecret && !isMandatory) {
      throw yaml.fail(fields.secret ?? place, 'must be with mandatory: true');
    }
    return {
      id,
      name: yaml.text(yaml.required(place, fields, 'name'), MAX_NAME),
      group: optional(fields.group, (field) => yaml.text(field, MAX_NAME)),
      purpose: optional(fields.purpose, (field) => yaml.choice(field, PURPOSES)) ?? 'other',
      mandatory: isMandatory,
      secret: isSecret,
      isSample: yaml.flag(fields.sample),
      isGuarded: false,
      domains: [],
      domainPlaces: [],
      sources: [],
      rewrites: [],
    };
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

  /** @param isSecret faults do not have the text. */
  private domain(place: Place, isSecret = false): string {
    const text = this.yaml.text(place, MAX_DOMAIN);
    try {
      return normaliseDomain(text);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const named = isSecret ? 'a domain' : JSON.stringify(text);
      throw this.yaml.fail(place, `${named} ${error.message}`);
    }
  }

  /** Several groups may name one source, with all else equal: its state and its list are stored by name. */
  private source(place: Place): SourceDefinition {
    const { sources, base } = this;
    const source = readSource(this.yaml, place, base);
    const known = sources.get(source.name) ?? source;
    sources.set(source.name, known);
    const equal = isDeepStrictEqual({ ...known, declaredAt: '' }, { ...source, declaredAt: '' });
    if (!equal) {
      const fields = 'format, key, mirrors, refresh, sha256, licence, commercial_use or size';
      throw this.yaml.fail(place, `${source.name} has another ${fields} at ${known.declaredAt}`);
    }
    return known;
  }
}

const MAX_LOCATION = 2048;
const DEFAULT_REFRESH_MS = 24 * 3_600_000;
const MIN_REFRESH_MS = 10_000;
const MAX_REFRESH_MS = 30 * 24 * 3_600_000;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The base of the file names of a definition: the path of a folder, or an http(s) URL that ends with a slash. */
export type Base = SourceLocation;

const SOURCE_FIELDS = [
  'file',
  'url',
  'mirrors',
  'format',
  'list',
  'refresh',
  'sha256',
  'licence',
  'commercial_use',
  'size',
] as const;

function readSource(yaml: YamlReader, place: Place, base: Base): SourceDefinition {
  const fields = yaml.fields(place, SOURCE_FIELDS);
  const { file, url, refresh, sha256 } = fields;
  if ((file === undefined) === (url === undefined)) {
    throw yaml.fail(place, 'must have either file or url');
  }
  const format = yaml.choice(yaml.required(place, fields, 'format'), LIST_FORMATS);
  const list = readList(yaml, place, fields.list, format);
  // Several lists of one archive are several sources.
  const part = list === null ? '' : `#${list}`;
  const about = {
    format,
    list,
    declaredAt: yaml.where(place),
    licence: optional(fields.licence, (field) => yaml.text(field, MAX_WORD)),
    commercialUse: optional(fields.commercial_use, (field) => yaml.choice(field, COMMERCIAL_USES)),
    size: optional(fields.size, (field) => readSize(yaml, field)),
  };
  if (file !== undefined) {
    if (refresh !== undefined) {
      throw yaml.fail(refresh, 'is for a url only: files are read with the definition');
    }
    const ofUrl = sha256 ?? fields.mirrors;
    if (ofUrl !== undefined) throw yaml.fail(ofUrl, 'is for a url only');
    const path = readPath(yaml, file);
    const location = resolveFile(base, path);
    return { name: path + part, location, mirrors: [], sha256: null, refreshMs: null, ...about };
  }
  const addresses = [url as Place, ...yaml.items(fields.mirrors)].map((place) => {
    const address = readUrl(yaml, place);
    const isZone = address.protocol === TRANSFER_PROTOCOL;
    if (isZone && format !== 'rpz') throw yaml.fail(place, 'is for format rpz only');
    if (isZone && sha256 !== undefined) throw yaml.fail(sha256, 'is for http and https URLs only');
    if (sha256 !== undefined || isProtected(address)) return address;
    const problem = isZone
      ? 'must have the key that signs the transfer, ?key=NAME: others could change the zone'
      : 'must be an https URL, or have the sha256 of its list: others could change it';
    throw yaml.fail(place, problem);
  });
  const [location, ...mirrors] = addresses.map(({ href }) => ({ url: href }));
  return {
    name: publicName(addresses[0]) + part,
    location,
    mirrors,
    sha256: optional(sha256, (field) => readDigest(yaml, field)),
    refreshMs: optional(refresh, (field) => readRefresh(yaml, field)) ?? DEFAULT_REFRESH_MS,
    ...about,
  };
}

/** Null when the field is absent. */
function optional<T>(field: Place | undefined, read: (field: Place) => T): T | null {
  return field === undefined ? null : read(field);
}

function readSize(yaml: YamlReader, place: Place): ListSize | 'unknown' {
  const problem = 'must be unknown, or such as "188764 names on 2026-02-07"';
  const pattern = /^(?:unknown|(\d{1,10}) names on (\d{4}-\d\d-\d\d))$/;
  const [text, names, on] = yaml.match(place, pattern, problem);
  return text === 'unknown' ? text : { names: Number(names), on };
}

function readList(
  yaml: YamlReader,
  source: Place,
  place: Place | undefined,
  format: ListFormat,
): string | null {
  if (format !== 'dlc') {
    if (place !== undefined) throw yaml.fail(place, 'is for format dlc only');
    return null;
  }
  if (place === undefined) throw yaml.fail(source, 'list is missing: which list of the archive');
  const problem = 'must be the name of a list, such as google or google@ads';
  return yaml.match(place, /^[\w!-]+(?:@-?[\w!]+)*$/, problem)[0];
}

function readPath(yaml: YamlReader, place: Place): string {
  const path = yaml.text(place, MAX_LOCATION);
  if (path.startsWith('/') || path.includes('\\') || path.split('/').includes('..')) {
    throw yaml.fail(place, 'must be a path within the folder');
  }
  return path;
}

/** Where the file with that path relative to the folder is. */
export function resolveFile(base: Base, path: string): SourceLocation {
  if ('path' in base) return { path: join(base.path, path) };
  return { url: new URL(path.split('/').map(encodeURIComponent).join('/'), base.url).href };
}

function readUrl(yaml: YamlReader, place: Place): URL {
  const url = URL.parse(yaml.text(place, MAX_LOCATION));
  if (url?.protocol === TRANSFER_PROTOCOL) {
    try {
      parseTransferUrl(url);
    } catch (error) {
      throw yaml.fail(place, (error as Error).message);
    }
  } else if (url === null || !/^https?:$/.test(url.protocol)) {
    throw yaml.fail(place, 'must be an http, https or rpz URL');
  }
  return url;
}

function readDigest(yaml: YamlReader, place: Place): string {
  const problem = 'must be a SHA-256 of 64 lower-case hexadecimal digits';
  return yaml.match(place, /^[0-9a-f]{64}$/, problem)[0];
}

function readRefresh(yaml: YamlReader, place: Place): number {
  const problem = 'must be a number with s, m, h or d, from 10s to 30d';
  const [, count, unit] = yaml.match(place, /^(\d{1,6})([smhd])$/, problem);
  const refreshMs = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (refreshMs < MIN_REFRESH_MS || refreshMs > MAX_REFRESH_MS) throw yaml.fail(place, problem);
  return refreshMs;
}

/** A URL without its secrets: no user and password, a digest in place of the query, and of a zone no key. */
export function publicName(url: URL): string {
  if (url.protocol === TRANSFER_PROTOCOL) return `rpz://${url.host}${url.pathname}`;
  const query = url.search === '' ? '' : `?${hash('sha256', url.search).slice(0, 8)}`;
  return `${url.origin}${url.pathname}${query}`;
}
