import type { PublishedChange } from '@weir/change-feed';
import type { ClientBase } from 'pg';
import type { Prisma } from '../generated/prisma/client.js';
import type { LockedHead } from './change-log.js';
import { type ConcernedProfiles, concernedProfiles } from './change-record.js';
import { encodeEntityChanges, type EntityChange } from './entity-change.js';

export type Transaction = Prisma.TransactionClient;

/** What a change did inside its transaction. */
export interface WorkResult<T> {
  readonly result: T;
  readonly changes: readonly EntityChange[];
}

/**
 * Checks and writes inside the transaction. When it throws, its writes are undone. It returns null when there is
 * nothing to do.
 */
export type Work<T> = (tx: Transaction, head: LockedHead) => Promise<WorkResult<T> | null>;

/** The outcome of a change. It is final only when the transaction is committed. */
export type ChangeOutcome<T> =
  | {
      readonly type: 'changed';
      readonly result: T;
      readonly change: PublishedChange;
      readonly profiles: ConcernedProfiles;
    }
  | { readonly type: 'unchanged' }
  | { readonly type: 'failed'; readonly reason: unknown };

/**
 * Runs a change inside a transaction that may hold other changes. When the change throws, only its own writes are
 * undone.
 * @returns the outcome, and the head for the next change of the transaction.
 * @throws Error when the transaction cannot continue.
 */
export async function tryChange<T>(
  client: ClientBase,
  tx: Transaction,
  head: LockedHead,
  work: Work<T>,
): Promise<{ readonly outcome: ChangeOutcome<T>; readonly head: LockedHead }> {
  // Sent together, so that the savepoint costs no round trip. Both must end before the transaction may go on.
  const [savepoint, written] = await Promise.allSettled([
    client.query('SAVEPOINT change'),
    work(tx, head),
  ]);
  if (savepoint.status === 'rejected') throw savepoint.reason;
  if (written.status === 'rejected') {
    await client.query('ROLLBACK TO SAVEPOINT change');
    return { outcome: { type: 'failed', reason: written.reason }, head };
  }
  if (written.value === null) return { outcome: { type: 'unchanged' }, head };
  return changed(head, written.value);
}

/** The outcome of a change that has done its work on top of `head`, and the head after it. */
export async function changed<T>(
  head: LockedHead,
  { result, changes }: WorkResult<T>,
): Promise<{ readonly outcome: ChangeOutcome<T>; readonly head: LockedHead }> {
  const { operations, digest } = await encodeEntityChanges(head.digest, changes);
  const after = headAfter(head, digest, changes);
  const { lineage, revision } = after;
  const change = { lineage, revision, digest, operations };
  const profiles = concernedProfiles(changes);
  return { outcome: { type: 'changed', result, change, profiles }, head: after };
}

function headAfter(head: LockedHead, digest: string, changes: readonly EntityChange[]): LockedHead {
  const catalogue = changes.findLast((change) => change.kind === 'catalogue');
  return {
    lineage: head.lineage,
    revision: head.revision + 1,
    digest,
    catalogueVersion:
      catalogue === undefined ? head.catalogueVersion : (catalogue.after?.version ?? null),
  };
}
