import {
  RowError,
  decodeHead,
  type EncodedChange,
  type EntityKind,
  type FlatRows,
  type Head,
  type Row,
} from '@weir/config-model';
import type { FeedLogger } from '../runtime/runtime.js';

export interface UpstreamStatus {
  /** As UPSTREAMS names it. */
  readonly address: string;
  readonly state: (typeof UPSTREAM_STATES)[number];
}

export const UPSTREAM_STATES = ['up', 'down'] as const;

/** How a resolver does, as it says with each lease. Rates and ratios are those of the last seconds. */
export interface ResolverStatus {
  /** Address and port on which it answers. */
  readonly address: string;
  /** Of Weir. */
  readonly version: string;
  /** Version of the catalogue image in use; null: there is none, or it is an older one from the disk. */
  readonly catalogue: number | null;
  /** Threads that answer UDP queries. */
  readonly threads: number;
  readonly answersPerSecond: number;
  /** Of the lookups in its cache; null: there were none. */
  readonly cacheHitRatio: number | null;
  /** Of its answers; null: there were none. */
  readonly blockedRatio: number | null;
  readonly upstreams: readonly UpstreamStatus[];
}

/** An upstream over TLS has a domain name in its text. */
const MAX_TEXT_LENGTH = 400;
const MAX_UPSTREAMS = 16;

/** A status on its way; undefined: there is none, or this process cannot read it, and ignores it alone. */
export function readResolverStatus(value: unknown): ResolverStatus | undefined {
  const said = (value ?? {}) as Partial<Record<keyof ResolverStatus, unknown>>;
  const { address, version, catalogue, threads, answersPerSecond } = said;
  const { cacheHitRatio, blockedRatio, upstreams } = said;
  if (!isText(address) || !isText(version) || !isCount(threads) || !isAmount(answersPerSecond))
    return undefined;
  if (catalogue !== null && !isCount(catalogue)) return undefined;
  if (!isRatio(cacheHitRatio) || !isRatio(blockedRatio)) return undefined;
  if (!Array.isArray(upstreams) || upstreams.length > MAX_UPSTREAMS) return undefined;
  const known = upstreams.map(readUpstream);
  if (!known.every((one) => one !== null)) return undefined;
  return {
    ...{ address, version, catalogue, threads, answersPerSecond, cacheHitRatio, blockedRatio },
    upstreams: known,
  };
}

function readUpstream(value: unknown): UpstreamStatus | null {
  const { address, state: said } = (value ?? {}) as Partial<Record<keyof UpstreamStatus, unknown>>;
  const state = UPSTREAM_STATES.find((one) => one === said);
  return isText(address) && state !== undefined ? { address, state } : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH;
}

function isCount(value: unknown): value is number {
  return isAmount(value) && Number.isSafeInteger(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}

function isRatio(value: unknown): value is number | null {
  return value === null || (isAmount(value) && value <= 1);
}

/**
 * Version of the feed protocol: snapshots, changes, heads, and the database on disk. It is raised with
 * every change that a reader of the version before would not understand (README, Versions).
 */
export const FEED_VERSION = 1;

/** Header with the feed version: in a request the version that is wanted, in a response the version that it has. */
export const FEED_VERSION_HEADER = 'Weir-Feed-Version';

export class FeedVersionError extends RowError {
  constructor(readonly version: number) {
    super(`of feed version ${version}; this process reads version ${FEED_VERSION}`);
  }
}

export type ReportVersion = (feedVersion: number | string, fields?: object) => void;

/** Logs each other version than that of this process once. */
export function versionReporter(log: FeedLogger, message: string): ReportVersion {
  const logged = new Set<number | string>();
  return (feedVersion, fields) => {
    if (logged.has(feedVersion)) return;
    logged.add(feedVersion);
    log.warn({ ...fields, feedVersion, ownFeedVersion: FEED_VERSION }, message);
  };
}

/** The version that a message names. @throws RowError when it is not an integer from 1. */
export function feedVersionOf(message: unknown): number {
  const { feedVersion } = (message ?? {}) as { feedVersion?: unknown };
  if (!Number.isSafeInteger(feedVersion) || (feedVersion as number) < 1) {
    throw new RowError('a feed version is an integer from 1');
  }
  return feedVersion as number;
}

/** @throws FeedVersionError when the message has another feed version; RowError when it has none or is not JSON. */
export function parseMessage(text: string): unknown {
  const value = parseJson(text);
  const version = feedVersionOf(value);
  if (version !== FEED_VERSION) throw new FeedVersionError(version);
  return value;
}

/** @throws RowError when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RowError('not JSON', { cause: error });
  }
}

/** Life of a follower's lease. Writes do not wait for a follower that has not renewed its lease. */
export const LEASE_MS = 3_000;
/**
 * How long Redis keeps a lease, ended or not, unless its follower says goodbye: so that a replica that starts knows who
 * is missing. At least the largest `MISSING_RESOLVER_S`.
 */
export const LEASE_KEPT_MS = 86_400_000 + LEASE_MS;
/** How often a follower renews its lease and a replica publishes the head. */
export const HEARTBEAT_MS = 1_000;
/** Media type of a compressed snapshot (RFC 8878), and of a delta between catalogue images. */
export const ZSTD = 'application/zstd';
/** A revision that no log has. It asks for a new snapshot, because the last one could not be used. */
export const NEW_SNAPSHOT = 999_999_999_999_999;

/** Longest delta that is made, sent and read for a base of this many bytes, before compression. */
export function mostDeltaBytes(baseBytes: number): number {
  return Math.floor(baseBytes / 3);
}

export const FOLLOWER_KINDS = ['resolver', 'block-page'] as const;
export type FollowerKind = (typeof FOLLOWER_KINDS)[number];

export type Position = Pick<Head, 'lineage' | 'revision'>;

/** The trace of a change, beside it: not in the log, digests or disks. Who does not know the field ignores it. */
export interface Traced {
  /** W3C Trace Context of the call that has made it. Absent: that call is not traced. */
  readonly traceparent?: string;
}

/** A change as it is published: with the lineage of its log. */
export type PublishedChange = EncodedChange & Head & Traced;

export interface FollowerState {
  readonly id: string;
  readonly kind: FollowerKind;
  /** Stays the same over a restart. Null: it has none. */
  readonly name: string | null;
  /** What is in force. Null: it is stopping, and no write waits for it. */
  readonly inForce: Head | null;
  readonly feedVersion: number;
  /** Of a resolver, with its lease: acknowledgements have none. */
  readonly status?: ResolverStatus | undefined;
}

const MAX_NAME_LENGTH = 200;

/** A traceparent has 55 characters. Whoever uses it checks what it says. */
const MAX_TRACEPARENT_LENGTH = 64;

/** What a change on its way says about its trace. Anything that cannot be a traceparent is ignored. */
export function readTraced(value: unknown): Traced {
  const { traceparent } = value as { traceparent?: unknown };
  const isUsable = typeof traceparent === 'string' && traceparent.length <= MAX_TRACEPARENT_LENGTH;
  return isUsable ? { traceparent } : {};
}

/** One line of a snapshot: first the head, then rows by kind, last the trailer. */
export type SnapshotPart =
  | ({ readonly type: 'head' } & Head)
  | {
      readonly type: 'rows';
      readonly kind: EntityKind;
      readonly rows: readonly Row[] | FlatRows;
    };

export interface SnapshotTrailer {
  readonly type: 'end';
  /** Rows sent of each kind; kinds without rows may be left out. */
  readonly counts: Readonly<Partial<Record<EntityKind, number>>>;
  readonly digest: string;
}

/** Reads every version: these fields mean the same in all. @throws RowError when it is no follower's state. */
export function parseFollowerState(text: string): FollowerState {
  const value = parseJson(text);
  const said = (value ?? {}) as Partial<Record<keyof FollowerState, unknown>>;
  const { id, name, inForce } = said;
  const kind = FOLLOWER_KINDS.find((one) => one === said.kind);
  if (!isName(id) || id === '' || kind === undefined || (name !== null && !isName(name))) {
    throw new RowError('a follower has an id, a kind and a name or null');
  }
  return {
    ...{ id, kind, name },
    inForce: inForce === null ? null : decodeHead(inForce),
    feedVersion: feedVersionOf(value),
    status: readResolverStatus(said.status),
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH;
}
