import type { HashKey } from '@weir/dns-name';
import { CatalogueError } from './catalogue-error.js';
import type { Definition, GroupDefinition, SourceDefinition } from './definition/definition.js';
import type { ListedGroup, ListedGroups } from './image/compile.js';
import { DEFAULT_LIMITS } from './lists/list-limits.js';
import { type ReadList, readNames } from './lists/read-names.js';
import { NameList } from './names/name-list.js';
import { openSource } from './sources/open-source.js';

const TIMEOUT_MS = 600_000;

/** The sources of a definition, each once, in the order in which groups name them. */
export function sourcesOf({ categories, applications }: Definition): SourceDefinition[] {
  const all = [...categories, ...applications].flatMap(({ sources }) => sources);
  return [...new Map(all.map((source) => [source.name, source])).values()];
}

/**
 * Reads a source from its beginning, whatever was read of it before.
 * @throws CatalogueError in one line that says where the source is declared, its name, and what is wrong.
 */
export async function readSource(source: SourceDefinition, key: HashKey): Promise<ReadList> {
  try {
    const { maxBytes } = DEFAULT_LIMITS;
    const opened = await openSource(source, { maxBytes, timeoutMs: TIMEOUT_MS });
    if (opened.status === 'unchanged') throw new CatalogueError('answered 304 unasked');
    return await readNames(opened.body, source.format, key);
  } catch (cause) {
    if (!(cause instanceof CatalogueError)) throw cause;
    const message = `${source.declaredAt}: ${source.name} ${cause.message}`;
    throw new CatalogueError(message, { cause });
  }
}

/** What `compileCatalogue` takes: the groups with their inline domains and what their sources list. */
export function listGroups(
  { categories, applications }: Definition,
  namesOf: (source: SourceDefinition) => NameList,
  key: HashKey,
): ListedGroups {
  const listed = ({ id, name, domains, sources }: GroupDefinition): ListedGroup => ({
    id,
    name,
    lists: [NameList.of(domains, key), ...sources.map(namesOf)],
  });
  return { categories: categories.map(listed), applications: applications.map(listed) };
}
