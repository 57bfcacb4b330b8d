import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import { Counter, type Registry } from 'prom-client';
import { readPages, Snapshot } from '../platform/database/snapshot.js';
import { withConnection } from '../platform/database/transaction.js';
import type { Job } from '../platform/jobs/job-scheduler.js';
import { lockHead, logChanges } from '../revisions/change-log.js';
import { replaced } from '../revisions/change-record.js';
import { digestOfRows } from './entity-tables.js';

const EVERY_MS = 24 * 60 * 60_000;

/**
 * The job that computes the digest of all rows anew and compares it with that of the head. They differ when somebody
 * has changed the tables directly, or the disk of the database has. It changes nothing: see `weir repair`.
 * @param snapshots connections for readers of the whole configuration.
 */
export function digestScrub(snapshots: Pool, registry: Registry, log: Logger): Job {
  const scrubs = new Counter({
    name: 'weir_digest_scrubs_total',
    help: 'Comparisons of the digest in the database with its rows on this replica, by what they found',
    labelNames: ['result'],
    registers: [registry],
  });
  // From 0, so that an alert sees the first one.
  for (const result of ['fits', 'differs']) scrubs.inc({ result }, 0);
  return {
    name: 'scrub-digest',
    everyMs: EVERY_MS,
    run: async (signal) => {
      const snapshot = await Snapshot.open(snapshots);
      try {
        const { revision, digest } = snapshot.head;
        const ofRows = await digestOfRows((sql) => snapshot.pages(sql), signal);
        const fits = digest === ofRows;
        scrubs.inc({ result: fits ? 'fits' : 'differs' });
        const fields = { revision, digest, digestOfRows: ofRows };
        if (fits) log.info(fields, 'the digest of the configuration fits its rows');
        else log.error(fields, 'the digest of the configuration does not fit its rows');
      } finally {
        await snapshot.close();
      }
    },
  };
}

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
    const { revision, digest: before } = head;
    const ofRows = await digestOfRows((sql) => readPages(client, sql));
    if (before === ofRows || isDryRun) {
      await client.query('ROLLBACK');
      return { revision, before, ofRows };
    }
    const origin = { author: { origin: 'repair' }, trace: null } as const;
    const made = replaced(head, { digest: ofRows, operations: [{ type: 'reload' }] }, origin);
    await logChanges(client, [made]);
    await client.query('COMMIT');
    return { revision: made.change.revision, before, ofRows };
  });
}
