import type pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';
import { connectDatabase } from './connect-database.js';

/** The version of the active image; versions only grow. */
export async function activeCatalogue(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: number | null }>(
    'SELECT catalogue_version::float8 AS version FROM config_head',
  );
  return rows[0]?.version ?? 0;
}

/** Changes the catalogue's sources. @returns whether the control planes activated the new catalogue in time. */
export async function renewCatalogue(deployment: Deployment, deadlineMs: number): Promise<boolean> {
  const client = await connectDatabase(deployment.postgres.url);
  try {
    const before = await activeCatalogue(client);
    deployment.catalogue.renew();
    const endMs = performance.now() + deadlineMs;
    while (performance.now() < endMs) {
      if ((await activeCatalogue(client)) !== before) return true;
      await sleep(50);
    }
    return false;
  } finally {
    await client.end();
  }
}
