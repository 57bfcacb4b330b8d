import type { PublishedChange } from '@weir/change-feed';
import {
  Digest,
  type EncodedOperation,
  type Entities,
  type EntityKind,
  KEY_LENGTHS,
  type Row,
  toRow,
} from '@weir/config-model';
import type { Span } from '@weir/telemetry';
import { AsyncLocalStorage } from 'node:async_hooks';

/** A call of the management API. */
export interface Call {
  readonly origin: 'api';
  /** Name of its token. */
  readonly token: string;
  /** Address that it came from; null: not a valid one. */
  readonly source: string | null;
  readonly requestId: string;
  readonly method: string;
  /** Pattern of the path, which has no key and no domain. */
  readonly route: string;
}

/** Who makes a change: a call, or Weir itself. */
export type Author = Call | { readonly origin: 'catalogue' | 'repair' | 'expiry' };

const storage = new AsyncLocalStorage<{ readonly author: Author; readonly span: Span | null }>();

/**
 * Runs some work. The changes that it makes are recorded with this author.
 * @param span of the author's call, if it is traced.
 */
export function actAs<T>(author: Author, work: () => T, span: Span | null = null): T {
  return storage.run({ author, span }, work);
}

/** @throws Error when nobody is named: there must be no change without a complete record. */
export function currentAuthor(): Author {
  const author = storage.getStore()?.author;
  if (author === undefined) throw new Error('a change needs an author');
  return author;
}

/** The span of the call that makes a change; null: it is not traced. */
export function currentSpan(): Span | null {
  return storage.getStore()?.span ?? null;
}

/**
 * One entity before and after a change; null where it does not exist. A changed key deletes one entity and adds
 * another.
 */
export type EntityChange = {
  [K in EntityKind]: {
    readonly kind: K;
    readonly before: Entities[K] | null;
    readonly after: Entities[K] | null;
  };
}[EntityKind];

/** What the log stores of changes of entities. */
export interface EncodedEntityChanges {
  /** What followers apply. All deletions come first, so that entities may exchange their keys. */
  readonly operations: readonly EncodedOperation[];
  /** The digest of the whole configuration afterwards. */
  readonly digest: string;
}

/** @param digest of the whole configuration before the changes. */
export function encodeEntityChanges(
  digest: string,
  changes: readonly EntityChange[],
): EncodedEntityChanges {
  const after = Digest.parse(digest);
  const deletions: EncodedOperation[] = [];
  const puts: EncodedOperation[] = [];
  for (const { kind, before, after: entity } of changes) {
    const [old, row] = [before && toRow(kind, before), entity && toRow(kind, entity)];
    if (old !== null) {
      after.remove(kind, old);
      if (row === null || !sameKey(kind, old, row)) {
        deletions.push(['delete', kind, old.slice(0, KEY_LENGTHS[kind])]);
      }
    }
    if (row !== null) {
      after.add(kind, row);
      puts.push(['put', kind, row]);
    }
  }
  return { operations: deletions.concat(puts), digest: after.toString() };
}

/** A row begins with its key. */
function sameKey(kind: EntityKind, a: Row, b: Row): boolean {
  for (let i = 0; i < KEY_LENGTHS[kind]; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Most keys in one record: a change may have millions. */
export const MAX_RECORDED = 100;

/** Stands for every profile among the ids of those that a change concerns. */
export const EVERY_PROFILE = -1;

/** A change, and what its record needs besides. */
export interface AuthoredChange {
  readonly change: PublishedChange;
  readonly author: Author;
  /** The ids of those that it concerns. */
  readonly profiles: readonly number[];
  /** As of `WorkResult`. */
  readonly besides?: readonly (readonly unknown[])[];
}

/** A row of `change_record`, without its time. Columns that are missing are null. */
export type ChangeRecord = Readonly<Record<string, unknown>>;

export function toRecord({ change, author, profiles, besides = [] }: AuthoredChange): ChangeRecord {
  const { revision, operations } = change;
  const call = author.origin === 'api' ? author : null;
  return {
    revision,
    origin: author.origin,
    ...(call && {
      token: call.token,
      source: call.source,
      request_id: call.requestId,
      method: call.method,
      route: call.route,
    }),
    keys: [...operations.slice(0, MAX_RECORDED).map(withoutValues), ...besides],
    key_count: operations.length + besides.length,
    profile_ids: profiles,
  };
}

/** A row begins with its key. */
function withoutValues(operation: EncodedOperation): unknown {
  const [type, kind, row] = operation;
  return type === 'reload' ? operation : [type, kind, row.slice(0, KEY_LENGTHS[kind])];
}

/** The profiles that the entities belonged to before the change, or belong to after it. */
export function concernedProfiles(changes: readonly EntityChange[]): readonly number[] {
  const ids = new Set<number>();
  for (const change of changes) addProfiles(change, ids);
  return [...ids];
}

function addProfiles(change: EntityChange, ids: Set<number>): void {
  if (change.kind === 'profile') {
    const profile = change.before ?? change.after;
    if (profile !== null) ids.add(profile.id);
    return;
  }
  for (const entity of [change.before, change.after]) {
    if (entity !== null && 'profileId' in entity) ids.add(entity.profileId);
  }
}
