import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Deployment } from '../deployment/deployment.js';
import type { Key } from './keys/key.js';

/** Runs `work` with a connection of which only queries fail: faults and the end of the run break it off. */
export async function withDatabase<T>(
  { postgres }: Deployment,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(postgres.url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

interface DatabaseHead {
  readonly revision: number;
  /** The version of the active catalogue; versions only grow. */
  readonly catalogue: number;
}

export async function readHead(client: pg.Client): Promise<DatabaseHead> {
  const { rows } = await client.query<DatabaseHead>(
    `SELECT revision::float8 AS revision, coalesce(catalogue_version, 0)::float8 AS catalogue
     FROM config_head`,
  );
  return rows[0] ?? { revision: 0, catalogue: 0 };
}

/** What the database has for a key. */
export async function readStored(client: pg.Client, key: Key): Promise<string | null> {
  const { rows } = await client.query<(string | null)[]>({
    text: `SELECT (${key.sql})::text`,
    rowMode: 'array',
  });
  return rows[0]?.[0] ?? null;
}

/** Changes the catalogue's sources. @returns whether the control planes activated the new catalogue in time. */
export function renewCatalogue(deployment: Deployment, deadlineMs: number): Promise<boolean> {
  return withDatabase(deployment, async (client) => {
    const before = (await readHead(client)).catalogue;
    deployment.catalogue.renew();
    const endMs = performance.now() + deadlineMs;
    while (performance.now() < endMs) {
      if ((await readHead(client)).catalogue !== before) return true;
      await sleep(50);
    }
    return false;
  });
}
