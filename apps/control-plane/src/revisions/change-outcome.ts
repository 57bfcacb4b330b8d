import type { PublishedChange } from '@weir/change-feed';
import type { LockedHead } from './change-log.js';
import { type ConcernedProfiles, concernedProfiles } from './change-record.js';
import { encodeEntityChanges, type EntityChange } from './entity-change.js';

/** What a change did inside its transaction. */
export interface WorkResult<T> {
  readonly result: T;
  readonly changes: readonly EntityChange[];
}

/** A change that has been made. It is final only when its transaction is committed. */
export interface MadeChange<T> {
  readonly type: 'changed';
  readonly result: T;
  readonly change: PublishedChange;
  readonly profiles: ConcernedProfiles;
}

/** The outcome of a change. It is final only when its transaction is committed. */
export type ChangeOutcome<T> =
  MadeChange<T> | { readonly type: 'failed'; readonly reason: unknown };

/** The outcome of a change that has done its work on top of `head`. */
export function changed<T>(
  { lineage, revision: before, digest: digestBefore }: LockedHead,
  { result, changes }: WorkResult<T>,
): MadeChange<T> {
  const { operations, digest } = encodeEntityChanges(digestBefore, changes);
  const change = { lineage, revision: before + 1, digest, operations };
  return { type: 'changed', result, change, profiles: concernedProfiles(changes) };
}
