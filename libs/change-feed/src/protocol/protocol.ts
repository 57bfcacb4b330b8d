import {
  type Change,
  type EncodedChange,
  type EntityKind,
  type FlatRows,
  type Head,
  type Row,
  RowError,
} from '@weir/config-model';
import { feedVersionOf } from './feed-version.js';
import { parseJson } from './message.js';

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
/** A revision that no log has: asks for a snapshot that is newer than the one that could not be used. */
export const MADE_ANEW = 999_999_999_999_999;
/** Most changes in one response of `GET /changes`. */
export const CHANGES_PAGE = 1_000;

export const FOLLOWER_KINDS = ['resolver', 'block-page'] as const;
export type FollowerKind = (typeof FOLLOWER_KINDS)[number];

/** A revision of one log. */
export type Position = Pick<Head, 'lineage' | 'revision'>;

/**
 * The trace that a change belongs to, beside the change: the log, digests and disks do not have it, and a follower that
 * does not know the field ignores it.
 */
export interface Traced {
  /** W3C Trace Context of the call that has made it. Absent: that call is not traced. */
  readonly traceparent?: string;
}

/** A change as it is published: with the lineage of its log. */
export type PublishedChange = EncodedChange & Head & Traced;

/** A change as it is received. */
export type ReceivedChange = Change & Traced;

/** The state of a follower, as it publishes it. */
export interface FollowerState {
  readonly id: string;
  readonly kind: FollowerKind;
  /** Stays the same over a restart. Null: it has none, or its release knows no names. */
  readonly name: string | null;
  /** Lineage of the log that it follows. Null: its release knows no lineages, or it is stopping. */
  readonly lineage: string | null;
  /** The revision in force. Null: it is stopping, and no write waits for it. */
  readonly revision: number | null;
  /** The digest of what is in force. Null: its release does not send it, or it is stopping. */
  readonly digest: string | null;
  /** The feed version that it reads. */
  readonly feedVersion: number;
  /** Whether it reads several changes in one message. Older releases do not. */
  readonly readsGroups: boolean;
}

/** Longest id and longest name of a follower. */
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

/** Response of `GET /changes?after=N`: the next changes in order, and the head of the log at that moment. */
export interface ChangesPage {
  readonly head: Head;
  readonly changes: readonly EncodedChange[];
}

/**
 * Reads every version: these fields mean the same in all.
 * @throws RowError when the text is not a follower's state.
 */
export function parseFollowerState(text: string): FollowerState {
  const value = parseJson(text) as Partial<Record<keyof FollowerState, unknown>> | null;
  const { id, kind, revision } = value ?? {};
  const lineage = value?.lineage ?? null;
  const known = FOLLOWER_KINDS.find((one) => one === kind);
  const revisionValid =
    revision === null || (Number.isSafeInteger(revision) && (revision as number) >= 0);
  if (
    typeof id !== 'string' ||
    id === '' ||
    id.length > MAX_NAME_LENGTH ||
    !known ||
    !revisionValid
  ) {
    throw new RowError('a follower has an id, a kind and a revision');
  }
  if (lineage !== null && typeof lineage !== 'string') throw new RowError('a lineage is a text');
  const name = value?.name ?? null;
  const isName = name === null || (typeof name === 'string' && name.length <= MAX_NAME_LENGTH);
  if (!isName) throw new RowError('a name is a text');
  const digest = value?.digest ?? null;
  if (digest !== null && typeof digest !== 'string') throw new RowError('a digest is a text');
  const feedVersion = feedVersionOf(value?.feedVersion);
  const readsGroups = value?.readsGroups === true;
  return {
    id,
    kind: known,
    name,
    lineage,
    revision: revision as number | null,
    digest,
    feedVersion,
    readsGroups,
  };
}
