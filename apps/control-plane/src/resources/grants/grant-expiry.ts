import type { Grant } from '@weir/config-model';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import type { Job } from '../../platform/jobs/job.js';
import { actAs } from '../../revisions/author.js';
import type { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import { endedGrants } from './grant-store.js';
import { removal } from './grants.service.js';

const EVERY_MS = 60_000;
/** Grants removed by one change. */
const BATCH = 1_000;

/** The job that removes the grants that have ended, by changes like any other. */
export function grantExpiry(
  pool: Pick<Pool, 'query'>,
  writer: Pick<ConfigurationWriter, 'write'>,
  log: Logger,
): Job {
  return {
    name: 'remove-ended-grants',
    everyMs: EVERY_MS,
    attempts: 3,
    firstRetryDelayMs: 1_000,
    run: async (signal) => {
      let removed = 0;
      for (;;) {
        signal.throwIfAborted();
        const { rows } = await pool.query<Grant>(endedGrants(BATCH));
        if (rows.length === 0) break;
        const change = removal(rows);
        removed += (await actAs({ origin: 'expiry' }, () => writer.write(change))).result;
      }
      if (removed > 0) log.info({ grants: removed }, 'grants that have ended are removed');
    },
  };
}
