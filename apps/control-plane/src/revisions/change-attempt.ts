import type { PublishedChange } from '@weir/change-feed';
import { encodeChange } from '@weir/config-model';
import type { ClientBase } from 'pg';
import type { Prisma } from '../generated/prisma/client.js';
import type { LockedHead } from './change-log.js';
import { digestAfter, type EntityChange, operationsOf } from './entity-change.js';

export type Transaction = Prisma.TransactionClient;

/** What a change came to. */
export interface Written<T> {
  readonly result: T;
  readonly changes: readonly EntityChange[];
}

/** Checks and writes inside the transaction. What it throws undoes all that it did; null: there is nothing to do. */
export type Work<T> = (tx: Transaction, head: LockedHead) => Promise<Written<T> | null>;

/** What became of a work, should the transaction be committed. */
export type Attempt<T> =
  | { readonly type: 'changed'; readonly result: T; readonly change: PublishedChange }
  | { readonly type: 'unchanged' }
  | { readonly type: 'refused'; readonly reason: unknown };

/**
 * Tries a work on what those before it in the transaction left; what it throws undoes itself alone.
 * @throws Error when the transaction cannot go on.
 */
export async function attempt<T>(
  client: ClientBase,
  tx: Transaction,
  head: LockedHead,
  work: Work<T>,
): Promise<{ readonly attempt: Attempt<T>; readonly head: LockedHead }> {
  // Together, so that the savepoint costs no wait; and to their end, so that nothing is asked once the transaction is
  // over.
  const [saved, outcome] = await Promise.allSettled([
    client.query('SAVEPOINT change'),
    work(tx, head),
  ]);
  if (saved.status === 'rejected') throw saved.reason;
  if (outcome.status === 'rejected') {
    await client.query('ROLLBACK TO SAVEPOINT change');
    return { attempt: { type: 'refused', reason: outcome.reason }, head };
  }
  if (outcome.value === null) return { attempt: { type: 'unchanged' }, head };
  const { result, changes } = outcome.value;
  const after = headAfter(head, changes);
  const encoded = encodeChange({ ...after, operations: operationsOf(changes) });
  const change = { lineage: after.lineage, ...encoded };
  return { attempt: { type: 'changed', result, change }, head: after };
}

function headAfter(head: LockedHead, changes: readonly EntityChange[]): LockedHead {
  const catalogue = changes.findLast((change) => change.kind === 'catalogue');
  return {
    lineage: head.lineage,
    revision: head.revision + 1,
    digest: digestAfter(head.digest, changes),
    catalogueVersion:
      catalogue === undefined ? head.catalogueVersion : (catalogue.after?.version ?? null),
  };
}
