import {
  CatalogueError,
  DEFAULT_LIMITS,
  type ListExample,
  isTransfer,
  type ListReport,
  NameList,
  type OpenOptions,
  openSource,
  type PlacedNames,
  placeNames,
  publicName,
  readChanges,
  type ReadList,
  readNames,
  type ReadOptions,
  type SourceDefinition,
  type SourceLocation,
  type Transfer,
  tryMirrors,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';
import type { StoredList } from '../store/source-store.js';

export interface SourceLimits {
  /** Longest time for one source. */
  readonly timeoutMs: number;
  /** Largest source, as it is sent (compressed or not). */
  readonly maxBytes: number;
  /** Keys for zone transfers, as `TSIG_KEY`. */
  readonly tsigKeys?: readonly string[];
}

export interface ReadTask {
  readonly source: SourceDefinition;
  readonly key: HashKey;
  /** `ETag` and `Last-Modified` of the last accepted list; null: none. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The mirror that it came from; null: none, but the location itself. */
  readonly mirror: string | null;
  readonly neverBlock: readonly string[];
  /** The last accepted list as it is stored, with its places; null: there is none. */
  readonly before: {
    readonly names: Uint8Array;
    readonly places: Uint8Array;
    readonly invalidCount: number;
  } | null;
  readonly limits: SourceLimits;
}

export type ReadOutcome =
  | { readonly status: 'unchanged'; readonly problem: string | null }
  | {
      readonly status: 'read';
      readonly list: Omit<StoredList, 'format' | 'readWith'>;
      /** What was wrong with the locations before the one that has the list; null: it was the first. */
      readonly problem: string | null;
      readonly report: ListReport;
      /** How a zone came; undefined: the source is none. */
      readonly transfer?: Transfer | undefined;
      /** The first ten with a name that would block a domain of `never_block`. */
      readonly protectedLines: readonly ListExample[];
      /** Names that the last accepted list has too; null: it is not known. */
      readonly commonCount: number | null;
    };

/** An unpacked source may be this many times as large as `maxBytes`. */
const MAX_UNPACK_RATIO = 4;

/**
 * Reads the list of a source, or of its mirrors if that fails, unless the source says that it has not changed.
 * @throws CatalogueError, one line, when there is no list to be had
 */
export function readSource(task: ReadTask): Promise<ReadOutcome> {
  return tryMirrors(task.source, (location, problem) => readFrom(location, problem, task));
}

async function readFrom(
  location: SourceLocation,
  problem: string | null,
  task: ReadTask,
): Promise<ReadOutcome> {
  const { source, key, limits } = task;
  const isMirror = location !== source.location && 'url' in location;
  const mirror = isMirror ? publicName(new URL(location.url)) : null;
  const isSameServer = mirror === task.mirror || isTransfer(location);
  // A server cannot compare what another one said about its list; the servers of a zone count alike.
  const { etag, lastModified } = isSameServer ? task : { etag: null, lastModified: null };
  const before = isTransfer(location) ? listBefore(task) : null;
  const read = await readList(
    { ...source, location },
    { etag, lastModified, ...limits },
    before,
    task,
  );
  if (read === null) {
    if (etag === null && lastModified === null) {
      throw new CatalogueError('answered 304 to a request without a condition');
    }
    return { status: 'unchanged', problem };
  }
  // Such as the page of a host that has moved, or locked, a list: a mirror may still have it.
  if (read.names.count === 0) throw new CatalogueError('lists no domain');
  const { report, protectedLines } = read;
  const isAdded = read.transfer?.isIncremental === true;
  const invalidBefore = isAdded ? (task.before?.invalidCount ?? 0) : 0;
  const names = read.names.toBytes(key);
  const nowSeconds = Math.floor(Date.now() / 1000);
  const last = before ?? listBefore(task);
  const { places, commonCount } = placeNames(read.names, read.lines, nowSeconds, last);
  const { count: protectedCount } = read.protectedNames;
  const protectedNames = protectedCount === 0 ? null : read.protectedNames.toBytes(key);
  const digest = createHash('sha256').update(names);
  if (protectedNames !== null) digest.update(protectedNames);
  return {
    status: 'read',
    list: {
      etag: read.etag,
      lastModified: read.lastModified,
      mirror,
      domainCount: read.names.count,
      invalidCount: invalidBefore + report.invalidLines,
      names,
      places: new Uint8Array(places.buffer),
      namesSha256: digest.digest('hex'),
      protectedCount,
      protectedNames,
    },
    problem,
    report: { ...report },
    transfer: read.transfer,
    protectedLines,
    commonCount: last && commonCount,
  };
}

type Read = ReadList &
  Pick<StoredList, 'etag' | 'lastModified'> & {
    readonly transfer?: Transfer | undefined;
  };

/**
 * @param base the list that changes of a zone are applied to; null: the whole is read.
 * @returns null: it has not changed.
 */
async function readList(
  source: SourceDefinition,
  options: OpenOptions,
  base: PlacedNames | null,
  task: ReadTask,
): Promise<Read | null> {
  const { key, neverBlock, limits } = task;
  const opened = await openSource(source, { ...options, takesChanges: base !== null });
  if (opened.status === 'unchanged') return null;
  const readOptions: ReadOptions = {
    limits: {
      ...DEFAULT_LIMITS,
      maxBytes: limits.maxBytes,
      maxUnpackedBytes: limits.maxBytes * MAX_UNPACK_RATIO,
    },
    sha256: source.sha256,
    list: source.list,
    neverBlock,
  };
  const { body, transfer } = opened;
  if (base === null || transfer?.isIncremental !== true) {
    const read = await readNames(body, source.format, key, readOptions);
    return { ...read, etag: opened.etag, lastModified: opened.lastModified, transfer };
  }
  try {
    const read = await readChanges(body, key, base, readOptions);
    return { ...read, etag: opened.etag, lastModified: null, transfer };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    const whole = await readList(source, { ...options, etag: null }, null, task);
    return whole && { ...whole, transfer: { isIncremental: false, problem: error.message } };
  }
}

/** Null also where what is stored cannot be used: the names of the new list are new then. */
function listBefore({ before, key }: ReadTask): PlacedNames | null {
  if (before === null) return null;
  try {
    const names = NameList.fromBytes(before.names, key);
    const places = new Uint32Array(before.places.slice().buffer);
    return places.length === names.words.length ? { names, places } : null;
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return null;
  }
}
