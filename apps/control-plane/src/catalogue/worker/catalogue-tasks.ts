import {
  CatalogueError,
  type CompiledCatalogue,
  compileCatalogue,
  DEFAULT_LIMITS,
  type ListedGroup,
  type ListReport,
  NameList,
  openSource,
  readNames,
  type SourceDefinition,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';

/** How long a source may take, and how much of it is taken. */
export interface SourceLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface ReadTask {
  readonly source: SourceDefinition;
  readonly key: HashKey;
  /** Of the last good list. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly limits: SourceLimits;
}

/** What became of a source that was asked. */
export type ReadOutcome =
  | { readonly status: 'unchanged' }
  | { readonly status: 'failed'; readonly problem: string }
  | {
      readonly status: 'read';
      readonly etag: string | null;
      readonly lastModified: string | null;
      readonly report: ListReport;
      /** Distinct names. */
      readonly count: number;
      /** As `NameList.toBytes` gives them. */
      readonly names: Uint8Array<ArrayBuffer>;
      readonly namesSha256: string;
    };

/** A group with its lists as they are kept. */
export interface KeptGroup {
  readonly id: number;
  readonly name: string;
  readonly domains: readonly string[];
  /** Positions in `CompileTask.lists`. */
  readonly lists: readonly number[];
}

export interface CompileTask {
  readonly categories: readonly KeptGroup[];
  readonly applications: readonly KeptGroup[];
  readonly lists: readonly Uint8Array[];
  readonly key: HashKey;
}

export type CompileOutcome =
  | { readonly status: 'compiled'; readonly compiled: CompiledCatalogue }
  | { readonly status: 'failed'; readonly problem: string };

/** Lists are packed well: as many times as long may come out of one. */
const UNPACKED_TIMES = 4;

/** Asks a source for its list, unless it has the one that is known. */
export async function readSource(task: ReadTask): Promise<ReadOutcome> {
  const { source, key, etag, lastModified, limits } = task;
  try {
    const opened = await openSource(source, { etag, lastModified, ...limits });
    if (opened.status === 'unchanged') return opened;
    const { names, report } = await readNames(opened.body, source.format, key, {
      ...DEFAULT_LIMITS,
      maxBytes: limits.maxBytes,
      maxUnpackedBytes: limits.maxBytes * UNPACKED_TIMES,
    });
    const bytes = names.toBytes(key);
    return {
      status: 'read',
      etag: opened.etag,
      lastModified: opened.lastModified,
      report: { ...report },
      count: names.count,
      names: bytes,
      namesSha256: createHash('sha256').update(bytes).digest('hex'),
    };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return { status: 'failed', problem: error.message };
  }
}

/** Compiles the groups. A list that is damaged, or was made under another key, is a failure. */
export function compileGroups(task: CompileTask): CompileOutcome {
  try {
    return { status: 'compiled', compiled: compile(task) };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return { status: 'failed', problem: error.message };
  }
}

function compile(task: CompileTask): CompiledCatalogue {
  const { key } = task;
  const lists = task.lists.map((bytes) => NameList.fromBytes(bytes, key));
  const listed = (group: KeptGroup): ListedGroup => ({
    id: group.id,
    name: group.name,
    lists: [NameList.of(group.domains, key), ...group.lists.map((i) => lists[i])],
  });
  return compileCatalogue(
    { categories: task.categories.map(listed), applications: task.applications.map(listed) },
    key,
  );
}
