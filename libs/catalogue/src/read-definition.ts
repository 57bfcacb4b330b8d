import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_ID } from '@weir/config-model';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import { CatalogueError } from './catalogue-error.js';
import type { Definition, GroupDefinition, SourceReport } from './definition.js';
import { readDomainsFile } from './domains-format.js';
import { type Place, YamlReader } from './yaml-reader.js';

const FILE = 'catalogue.yaml';
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_NAME = 200;
const MAX_DOMAIN = 1024;
const MAX_PATH = 1024;
const FORMATS = ['domains', 'hosts', 'adblock', 'rpz', 'ut1'];

/**
 * Reads a catalogue folder: `catalogue.yaml` and the list files that it names.
 * @throws CatalogueError at the first fault, as `file:line: field: problem`.
 */
export async function readDefinition(folder: string): Promise<Definition> {
  const yaml = new YamlReader(FILE, await readBounded(join(folder, FILE)));
  const top = yaml.fields(yaml.root, ['categories', 'applications']);
  const reports: SourceReport[] = [];
  const categories = await readGroups(yaml, top.categories, folder, reports);
  const applications = await readGroups(yaml, top.applications, folder, reports);
  return { categories, applications, reports };
}

async function readBounded(path: string): Promise<string> {
  let file;
  try {
    file = await open(path);
  } catch (cause) {
    throw new CatalogueError(`${path}: cannot be read: ${(cause as Error).message}`, { cause });
  }
  try {
    if ((await file.stat()).size > MAX_FILE_BYTES) {
      throw new CatalogueError(`${path}: is larger than ${MAX_FILE_BYTES} bytes`);
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function readGroups(
  yaml: YamlReader,
  list: Place | undefined,
  folder: string,
  reports: SourceReport[],
): Promise<GroupDefinition[]> {
  const groups: GroupDefinition[] = [];
  const lineOfId = new Map<number, number>();
  for (const place of yaml.items(list)) {
    const fields = yaml.fields(place, ['id', 'name', 'domains', 'sources']);
    const idPlace = yaml.required(place, fields, 'id');
    const id = yaml.integer(idPlace, 0, MAX_ID);
    const taken = lineOfId.get(id);
    if (taken !== undefined) throw yaml.fail(idPlace, `id ${id} stands in line ${taken} already`);
    lineOfId.set(id, yaml.line(idPlace));
    const name = yaml.text(yaml.required(place, fields, 'name'), MAX_NAME);
    const domains = yaml.items(fields.domains).map((item) => readDomain(yaml, item));
    for (const source of yaml.items(fields.sources)) {
      reports.push(await readSource(yaml, source, folder, domains));
    }
    groups.push({ id, name, domains });
  }
  return groups.sort((a, b) => a.id - b.id);
}

function readDomain(yaml: YamlReader, place: Place): string {
  const text = yaml.text(place, MAX_DOMAIN);
  try {
    return normaliseDomain(text);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw yaml.fail(place, `${JSON.stringify(text)} ${error.message}`);
  }
}

/** Adds what a source lists to `domains`. */
async function readSource(
  yaml: YamlReader,
  place: Place,
  folder: string,
  domains: string[],
): Promise<SourceReport> {
  const fields = yaml.fields(place, ['file', 'url', 'format', 'refresh']);
  const format = yaml.required(place, fields, 'format');
  const formatName = yaml.text(format, MAX_NAME);
  if (!FORMATS.includes(formatName))
    throw yaml.fail(format, `must be one of ${FORMATS.join(', ')}`);
  if (fields.url !== undefined || formatName !== 'domains') {
    throw yaml.fail(place, 'only a file of format domains can be read');
  }
  const filePlace = yaml.required(place, fields, 'file');
  const file = yaml.text(filePlace, MAX_PATH);
  if (file.startsWith('/') || file.split('/').includes('..')) {
    throw yaml.fail(filePlace, 'must be a path within the folder');
  }
  const report = await readDomainsFile(folder, file, (domain) => domains.push(domain)).catch(
    (cause: unknown) => {
      throw yaml.fail(filePlace, `${file} cannot be read: ${(cause as Error).message}`);
    },
  );
  if (report.domains === 0) throw yaml.fail(filePlace, `${file} lists no domain`);
  return report;
}
