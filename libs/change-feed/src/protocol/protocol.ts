import {
  decodeChange,
  decodeHead,
  type Change,
  type EncodedChange,
  type EntityKind,
  type Head,
  isEntityKind,
  type Row,
  RowError,
} from '@weir/config-model';
import { createHash } from 'node:crypto';
import { expectFeedVersion, FEED_VERSION, feedVersionOf } from './feed-version.js';

/** The names that one deployment uses in Redis. Redis may lose all of it: the change log in PostgreSQL is the guarantee. */
export interface RedisNames {
  /** Channel of committed changes; only the head of a change that is too large for a message. */
  readonly change: string;
  /** Channel of where the log stands, from each control-plane replica each second. */
  readonly head: string;
  /** Channel of what followers say of themselves, at each change they applied and each second. */
  readonly follower: string;
  /** Key of a follower's lease; its value is the follower's last state. */
  lease(id: string): string;
  /** What the keys of the control plane's job queue begin with. */
  readonly jobs: string;
}

/**
 * Deployments that share a Redis must not hear each other, and pub/sub knows no database numbers: what only one deployment knows, the
 * token of its feed API, makes its names.
 */
export function redisNames(feedToken: string): RedisNames {
  const deployment = createHash('sha256')
    .update(`weir redis names ${feedToken}`)
    .digest('hex')
    .slice(0, 16);
  const prefix = `weir:${deployment}`;
  return {
    change: `${prefix}:change`,
    head: `${prefix}:head`,
    follower: `${prefix}:follower`,
    lease: (id) => `${prefix}:lease:${id}`,
    jobs: `${prefix}:jobs`,
  };
}

/** A follower that has not spoken for this long is not waited for any more. */
export const LEASE_MS = 3_000;
/** How often a follower renews its lease and a replica publishes the head. */
export const HEARTBEAT_MS = 1_000;
/** Longest change published whole; a longer one is fetched from the feed API. */
export const MAX_PUBLISHED_BYTES = 256 * 1024;
/** Most changes that one answer of `GET /changes` holds. */
export const CHANGES_PAGE = 1_000;

export const FOLLOWER_KINDS = ['resolver', 'block-page'] as const;
export type FollowerKind = (typeof FOLLOWER_KINDS)[number];

/** A revision of one log. */
export type Position = Pick<Head, 'lineage' | 'revision'>;

/** A change as it is published: with the log that it is of. */
export type PublishedChange = EncodedChange & Head;

/** What a follower says of itself. */
export interface FollowerState {
  readonly id: string;
  readonly kind: FollowerKind;
  /** Of the log that it follows; null: its release knows none, or it says goodbye. */
  readonly lineage: string | null;
  /** The revision in force there; null: it says goodbye. */
  readonly revision: number | null;
  /** Version of the feed that it reads. */
  readonly feedVersion: number;
}

/** One line of a snapshot: first the head, then rows by kind, last the trailer. */
export type SnapshotPart =
  | ({ readonly type: 'head' } & Head)
  | { readonly type: 'rows'; readonly kind: EntityKind; readonly rows: readonly Row[] };

export interface SnapshotTrailer {
  readonly type: 'end';
  /** Rows sent of each kind; kinds without rows may be left out. */
  readonly counts: Readonly<Partial<Record<EntityKind, number>>>;
  readonly digest: string;
}

/** Answer of `GET /changes?after=N`: the next changes in order, and where the log stood. */
export interface ChangesPage {
  readonly head: Head;
  readonly changes: readonly EncodedChange[];
}

/** The text of a change for its channel: whole, or its head alone when it is longer than `MAX_PUBLISHED_BYTES`. */
export function renderChangeMessage(change: PublishedChange): string {
  const whole = JSON.stringify({ ...change, feedVersion: FEED_VERSION });
  return whole.length <= MAX_PUBLISHED_BYTES ? whole : renderHeadMessage(change);
}

/** The text of a head for its channel. */
export function renderHeadMessage({ lineage, revision, digest }: Head): string {
  return JSON.stringify({ lineage, revision, digest, feedVersion: FEED_VERSION });
}

/** A change, or a head when the change was too large. @throws FeedVersionError; RowError when the text is neither. */
export function parseChangeMessage(text: string): (Change & Head) | Head {
  const value = parseMessage(text);
  const head = decodeHead(value);
  return 'operations' in (value as object) ? { ...head, ...decodeChange(value) } : head;
}

/** @throws FeedVersionError; RowError when the text is no head. */
export function parseHeadMessage(text: string): Head {
  return decodeHead(parseMessage(text));
}

/** Of any version: what it says of itself keeps its meaning. @throws RowError when the text is no follower's state. */
export function parseFollowerState(text: string): FollowerState {
  const value = parseJson(text) as Partial<Record<keyof FollowerState, unknown>> | null;
  const { id, kind, revision } = value ?? {};
  const lineage = value?.lineage ?? null;
  const known = FOLLOWER_KINDS.find((one) => one === kind);
  const revisionValid =
    revision === null || (Number.isSafeInteger(revision) && (revision as number) >= 0);
  if (typeof id !== 'string' || id === '' || id.length > 200 || !known || !revisionValid) {
    throw new RowError('a follower has an id, a kind and a revision');
  }
  if (lineage !== null && typeof lineage !== 'string') throw new RowError('a lineage is a text');
  const feedVersion = feedVersionOf(value?.feedVersion);
  return { id, kind: known, lineage, revision: revision as number | null, feedVersion };
}

/** @throws RowError when the text is no page of changes. They are not decoded: `decodeChanges` does. */
export function parseChangesPage(text: string): { head: Head; changes: readonly unknown[] } {
  const value = parseJson(text) as Partial<ChangesPage> | null;
  if (!Array.isArray(value?.changes)) throw new RowError('a page has an array of changes');
  return { head: decodeHead(value.head), changes: value.changes };
}

/** @throws RowError when the line is no part of a snapshot. Rows are not decoded: whoever puts them in does. */
export function parseSnapshotLine(line: string): SnapshotPart | SnapshotTrailer {
  const value = parseJson(line) as Record<string, unknown> | null;
  switch (value?.['type']) {
    case 'head':
      return { type: 'head', ...decodeHead(value) };
    case 'rows': {
      const { kind, rows } = value;
      if (!isEntityKind(kind) || !Array.isArray(rows)) throw new RowError('rows have a kind');
      return { type: 'rows', kind, rows: rows as Row[] };
    }
    case 'end': {
      const { counts, digest } = value;
      if (typeof counts !== 'object' || counts === null || typeof digest !== 'string') {
        throw new RowError('a trailer has counts and a digest');
      }
      return { type: 'end', counts, digest };
    }
    default:
      throw new RowError('unknown line in a snapshot');
  }
}

function parseMessage(text: string): unknown {
  const value = parseJson(text);
  expectFeedVersion((value as { feedVersion?: unknown } | null)?.feedVersion);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RowError('not JSON', { cause: error });
  }
}
