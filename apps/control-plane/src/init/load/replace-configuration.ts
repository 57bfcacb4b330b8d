import { Digest, type EntityKeys } from '@weir/config-model';
import type { ClientBase } from 'pg';
import { ENTITY_TABLES, toFeedRow } from '../../feed/entity-tables.js';
import { readPages } from '../../platform/database/snapshot.js';
import type { Draft } from '../draft/draft.js';
import { Comparison } from './comparison.js';
import { Difference, type LoggedDifference, MAX_LOGGED_ROWS } from './difference.js';

/**
 * Replaces the whole configuration with a draft that has been checked, in a transaction that holds the lock of the
 * head. Schedules stay if both of their profiles are in the draft (decisions §2), orders stay, grants go (decisions
 * §14, §15).
 * Only differences are written. They are found here, not in PostgreSQL: the keys of the draft are in memory, so each
 * stored row is read once, and no row of the draft needs to be written to be compared.
 * @param draftDigest of the draft alone.
 * @returns the digest of the new configuration, and the operations that lead to it: the difference, or `reload` when it
 *   is large.
 */
export async function replaceConfiguration(
  client: ClientBase,
  draft: Draft,
  draftDigest: string,
): Promise<LoggedDifference & { readonly digest: string }> {
  const difference = new Difference(draft.profiles);
  await client.query(PLAN_JOINS);
  const comparisons = draft.tables.map((table) => new Comparison(client, table, difference));
  for (const comparison of comparisons) await comparison.read();
  const differentRows = comparisons.reduce((sum, one) => sum + one.differentRows, 0);
  const checksDisabled = differentRows > MAX_LOGGED_ROWS && (await disableReferenceChecks(client));
  await deleteSchedulesAndGrants(client, draft, difference);
  const referred = comparisons.filter(({ table }) => table.isReferred);
  for (const one of comparisons) if (!one.table.isReferred) await one.deleteOthers();
  for (const comparison of comparisons) {
    await comparison.putMissing();
    const { name, distinctCount } = comparison.table;
    await analyse(client, name, distinctCount);
  }
  // Last, when no row refers to them any more.
  for (const comparison of referred.toReversed()) await comparison.deleteOthers();
  if (checksDisabled) await checkReferences(client);
  const digest = Digest.parse(draftDigest);
  await addKept(client, digest);
  return { digest: digest.toString(), ...difference.logged() };
}

/** Deletes the schedules of which a profile is not in the draft, and all grants. */
async function deleteSchedulesAndGrants(
  client: ClientBase,
  draft: Draft,
  difference: Difference,
): Promise<void> {
  const schedules = (await endingSchedules(client, draft)).map(({ profileId }) => profileId);
  for (const profileId of schedules) difference.delete('schedule', { profileId });
  await client.query('DELETE FROM schedule WHERE profile_id = ANY ($1)', [schedules]);
  const grants = await client.query<EntityKeys['grant']>(`
    DELETE FROM domain_grant RETURNING profile_id AS "profileId", domain_hash::float8 AS "domainHash"`);
  for (const key of grants.rows) difference.delete('grant', key);
}

/** The schedules that end, because the draft does not have both of their profiles (decisions §2). */
export async function endingSchedules(
  client: ClientBase,
  { profiles: { keys } }: Draft,
): Promise<EntityKeys['schedule'][]> {
  const { rows } = await client.query<{ profileId: number; target: number }>(
    'SELECT profile_id AS "profileId", target_profile_id AS target FROM schedule',
  );
  return rows.filter(
    ({ profileId, target }) => keys.find(profileId) === null || keys.find(target) === null,
  );
}

/** Adds what is not part of a draft to its digest: schedules, the catalogue and orders. */
async function addKept(client: ClientBase, digest: Digest): Promise<void> {
  for (const kind of ['schedule', 'catalogue', 'order'] as const) {
    for await (const page of readPages(client, ENTITY_TABLES[kind].sql)) {
      for (const row of page) digest.add(kind, toFeedRow(kind, row));
    }
  }
}

/**
 * PostgreSQL checks the foreign keys of each row, which is the slowest part of a large load. With the privilege, these
 * checks are disabled for this transaction, and one query per foreign key does them at the end.
 * @returns whether they are disabled.
 */
async function disableReferenceChecks(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "SELECT has_parameter_privilege('session_replication_role', 'SET') AS may",
  );
  if (!rows[0]?.may) return false;
  await client.query('SET LOCAL session_replication_role = replica');
  return true;
}

/** The columns of tables that POST /init/ fills that refer to another one. */
const REFERENCES = [
  { table: 'profile', column: 'page_id', to: 'block_page' },
  ...['application_rule', 'domain_rule', 'napt_assignment', 'ipv4_network', 'ipv6_network'].map(
    (table) => ({ table, column: 'profile_id', to: 'profile' }),
  ),
];

/** @throws Error when a referenced row does not exist. The draft was checked, so this would be a bug. */
async function checkReferences(client: ClientBase): Promise<void> {
  for (const { table, column, to } of REFERENCES) {
    const { rows } = await client.query<{ dangling: boolean }>(`
      SELECT EXISTS (
        SELECT FROM ${table} WHERE ${column} IS NOT NULL
        AND NOT EXISTS (SELECT FROM ${to} WHERE ${to}.id = ${table}.${column})
      ) AS dangling`);
    if (rows[0]?.dangling) throw new Error(`${table} refers to a ${to} that does not exist`);
  }
}

/** Share by which a table may have grown or shrunk since its statistics were made, as in PostgreSQL's autovacuum. */
const STALE_SHARE = 0.1;

/**
 * Updates the statistics of the planner if they were made for another number of rows: references would be checked by
 * reading the whole table for each row. Skips a table that is being analysed.
 */
async function analyse(client: ClientBase, name: string, count: number): Promise<void> {
  const { rows } = await client.query<{ known: number }>(
    `SELECT reltuples AS known FROM pg_class WHERE oid = '${name}'::regclass`,
  );
  const known = rows[0]?.known ?? -1;
  if (Math.abs(count - known) <= known * STALE_SHARE) return;
  await client.query(`ANALYZE (SKIP_LOCKED) ${name}`);
}

/**
 * Joins are made by hashing or sorting: a nested loop that was planned for a few rows takes minutes when there are
 * many. With 64 MB, joins of a million rows need no temporary files. Only one transaction uses that much.
 */
const PLAN_JOINS = "SET LOCAL enable_nestloop = off; SET LOCAL work_mem = '64MB'";
