import {
  CatalogueError,
  DEFAULT_LIMITS,
  type ListExample,
  type ListReport,
  openSource,
  readNames,
  type SourceDefinition,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';
import type { StoredList } from '../store/source-store.js';

export interface SourceLimits {
  /** Longest time for one source. */
  readonly timeoutMs: number;
  /** Largest source, as it is sent (compressed or not). */
  readonly maxBytes: number;
}

export interface ReadTask {
  readonly source: SourceDefinition;
  readonly key: HashKey;
  /** `ETag` and `Last-Modified` of the last accepted list; null: none. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly neverBlock: readonly string[];
  readonly limits: SourceLimits;
}

export type ReadOutcome =
  | { readonly status: 'unchanged' }
  | { readonly status: 'failed'; readonly problem: string }
  | {
      readonly status: 'read';
      readonly list: Omit<StoredList, 'format' | 'readWith'>;
      readonly report: ListReport;
      /** The first ten with a name that would block a domain of `never_block`. */
      readonly protectedLines: readonly ListExample[];
    };

/** An unpacked source may be this many times as large as `maxBytes`. */
const MAX_UNPACK_RATIO = 4;

/** Reads the list of a source, unless the source says that it has not changed. */
export async function readSource(task: ReadTask): Promise<ReadOutcome> {
  const { source, key, etag, lastModified, neverBlock, limits } = task;
  try {
    const opened = await openSource(source, { etag, lastModified, ...limits });
    if (opened.status === 'unchanged') return opened;
    const read = await readNames(opened.body, source.format, key, {
      limits: {
        ...DEFAULT_LIMITS,
        maxBytes: limits.maxBytes,
        maxUnpackedBytes: limits.maxBytes * MAX_UNPACK_RATIO,
      },
      sha256: source.sha256,
      neverBlock,
    });
    const { report, protectedLines } = read;
    const names = read.names.toBytes(key);
    const { count: protectedCount } = read.protectedNames;
    const protectedNames = protectedCount === 0 ? null : read.protectedNames.toBytes(key);
    const digest = createHash('sha256').update(names);
    if (protectedNames !== null) digest.update(protectedNames);
    return {
      status: 'read',
      list: {
        etag: opened.etag,
        lastModified: opened.lastModified,
        domainCount: read.names.count,
        invalidCount: report.invalidLines,
        names,
        namesSha256: digest.digest('hex'),
        protectedCount,
        protectedNames,
      },
      report: { ...report },
      protectedLines,
    };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return { status: 'failed', problem: error.message };
  }
}
