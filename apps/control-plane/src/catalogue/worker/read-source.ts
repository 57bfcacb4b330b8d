import {
  CatalogueError,
  DEFAULT_LIMITS,
  type ListReport,
  openSource,
  readNames,
  type SourceDefinition,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';

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
  readonly limits: SourceLimits;
}

export type ReadOutcome =
  | { readonly status: 'unchanged' }
  | { readonly status: 'failed'; readonly problem: string }
  | {
      readonly status: 'read';
      readonly etag: string | null;
      readonly lastModified: string | null;
      readonly report: ListReport;
      /** Number of distinct names. */
      readonly count: number;
      /** Serialised by `NameList.toBytes`. */
      readonly names: Uint8Array<ArrayBuffer>;
      /** SHA-256 of `names`, hexadecimal. */
      readonly namesSha256: string;
    };

/** An unpacked source may be this many times as large as `maxBytes`. */
const MAX_UNPACK_RATIO = 4;

/** Reads the list of a source, unless the source says that it has not changed. */
export async function readSource(task: ReadTask): Promise<ReadOutcome> {
  const { source, key, etag, lastModified, limits } = task;
  try {
    const opened = await openSource(source, { etag, lastModified, ...limits });
    if (opened.status === 'unchanged') return opened;
    const { names, report } = await readNames(opened.body, source.format, key, {
      ...DEFAULT_LIMITS,
      maxBytes: limits.maxBytes,
      maxUnpackedBytes: limits.maxBytes * MAX_UNPACK_RATIO,
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
