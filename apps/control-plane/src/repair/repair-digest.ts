import { encodeChange } from '@weir/config-model';
import type { Pool } from 'pg';
import { digestOfRows } from '../feed/entity-tables.js';
import { readPages } from '../platform/database/snapshot.js';
import { withConnection } from '../platform/database/transaction.js';
import { lockHead, logChanges, toLogEntries } from '../revisions/change-log.js';
import { EVERY_PROFILE } from '../revisions/change-record.js';

/** Longest time between two statements while the rows are read. */
const IDLE_IN_TRANSACTION_MS = 60_000;

export interface DigestRepair {
  /** The revision at the end. */
  readonly revision: number;
  /** The digest that the head had, and that of the rows. */
  readonly before: string;
  readonly ofRows: string;
}

/**
 * Computes the digest of all rows anew. If the head has another one, a change puts the right one in force: it has a
 * revision of its own and makes every follower load the whole configuration. Other changes wait meanwhile.
 * @param isDryRun nothing is changed.
 */
export async function repairDigest(pool: Pool, isDryRun: boolean): Promise<DigestRepair> {
  return withConnection(pool, async (client) => {
    await client.query('BEGIN');
    const { head } = await lockHead(client, { idleInTransactionMs: IDLE_IN_TRANSACTION_MS });
    const { lineage, digest: before } = head;
    const ofRows = await digestOfRows((sql) => readPages(client, sql));
    if (before === ofRows || isDryRun) {
      await client.query('ROLLBACK');
      return { revision: head.revision, before, ofRows };
    }
    const revision = head.revision + 1;
    const change = encodeChange({ revision, digest: ofRows, operations: [{ type: 'reload' }] });
    const entries = toLogEntries([
      { change: { lineage, ...change }, author: { origin: 'repair' }, profiles: [EVERY_PROFILE] },
    ]);
    await logChanges(client, entries);
    await client.query('COMMIT');
    return { revision, before, ofRows };
  });
}
