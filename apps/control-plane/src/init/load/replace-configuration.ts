import { Digest } from '@weir/config-model';
import type { PoolClient } from 'pg';
import { SNAPSHOT_TABLES } from '../../feed/entity-tables.js';
import { copyIn } from '../../platform/database/copy-in.js';
import type { Replacement } from '../../revisions/configuration-writer.js';
import type { Draft } from '../draft/draft-tables.js';
import { Yielder } from '../../platform/yielder.js';
import { Difference } from './difference.js';
import { DraftRows } from './draft-rows.js';
import { REFERENCES, type Table, TABLES } from './tables.js';

/**
 * Replaces the whole configuration with a draft, in a transaction that holds the lock of the head. The draft must have
 * been checked. Schedules stay if both of their profiles are in the draft (decisions §2).
 *
 * An empty table is filled with COPY. For a table with rows, the new rows are copied into a staging table, and only
 * differences are written: most replacements repeat the stored configuration, and unchanged rows need no new index
 * entries.
 * @returns the digest of the new configuration, and the operations that lead to it.
 */
export async function replaceConfiguration(client: PoolClient, draft: Draft): Promise<Replacement> {
  const digest = new Digest();
  const rows = new DraftRows(draft, digest, new Yielder());
  const difference = new Difference(client);
  await client.query(NO_NESTED_LOOPS);
  const checksDisabled = await disableReferenceChecks(client);
  const staged: Table[] = [];
  for (const table of TABLES) {
    if (await isEmpty(client, table)) continue;
    await client.query(CREATE_STAGE(table));
    await copyIn(client, `${stagingTableOf(table)} (${columnsOf(table)})`, rows.of(table.name));
    staged.push(table);
  }
  const profilesAreStaged = staged.some(({ name }) => name === 'profile');
  for (const statement of DELETE_SCHEDULES(profilesAreStaged)) {
    await difference.deleteSchedulesBy(statement);
  }
  const referring = staged.filter((table) => !isReferenced(table));
  for (const table of referring) await difference.deleteBy(DELETE_OTHERS(table), table.name);
  for (const table of TABLES) {
    if (staged.includes(table)) {
      if (isReferenced(table)) await difference.putBy(UPDATE_CHANGED(table), table.name);
      await difference.putBy(INSERT_NEW(table), table.name);
    } else {
      await copyIn(client, `${table.name} (${columnsOf(table)})`, rows.of(table.name));
      await difference.putAll(table.name);
    }
    await client.query(ANALYZE(table));
  }
  // Last, when no row refers to them any more.
  const referredTo = staged.filter(isReferenced).toReversed();
  for (const table of referredTo) await difference.deleteBy(DELETE_OTHERS(table), table.name);
  if (checksDisabled) await checkReferences(client);
  // Schedules and the catalogue are not part of the draft.
  for (const kind of ['schedule', 'catalogue'] as const) {
    const kept = await client.query<object>(SNAPSHOT_TABLES[kind].sql);
    for (const row of kept.rows) digest.add(kind, SNAPSHOT_TABLES[kind].toRow(row));
  }
  return { digest: digest.toString(), operations: await difference.operations() };
}

/**
 * PostgreSQL checks the foreign keys of each row separately, which is the slowest part of a load. If the database user
 * has the privilege, the checks are disabled for this transaction, and one query per foreign key does them at the end.
 * @returns whether they are disabled.
 */
async function disableReferenceChecks(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "SELECT has_parameter_privilege('session_replication_role', 'SET') AS may",
  );
  if (!rows[0]?.may) return false;
  await client.query('SET LOCAL session_replication_role = replica');
  return true;
}

/** @throws Error when a referenced row does not exist. The draft was checked, so this would be a bug. */
async function checkReferences(client: PoolClient): Promise<void> {
  for (const { table, column, to } of REFERENCES) {
    const { rows } = await client.query<{ dangling: boolean }>(`
      SELECT EXISTS (
        SELECT FROM ${table} WHERE ${column} IS NOT NULL
        AND NOT EXISTS (SELECT FROM ${to} WHERE ${to}.id = ${table}.${column})
      ) AS dangling`);
    if (rows[0]?.dangling) throw new Error(`${table} refers to a ${to} that does not exist`);
  }
}

async function isEmpty(client: PoolClient, { name }: Table): Promise<boolean> {
  const { rows } = await client.query<{ empty: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM ${name}) AS empty`,
  );
  return rows[0]?.empty ?? false;
}

/** Rows of a referenced table are updated, because deleting one would delete the rows that refer to it. */
function isReferenced({ name }: Table): boolean {
  return REFERENCES.some(({ to }) => to === name);
}

function stagingTableOf({ name }: Table): string {
  return `new_${name}`;
}

function columnsOf({ key, values }: Table): string {
  return [...key, ...values].join(', ');
}

/** SQL condition: the columns of a stored row and of a staged row are equal. */
function same(table: Table, columns: readonly string[], operator: string): string {
  return columns
    .map((column) => `${stagingTableOf(table)}.${column} ${operator} ${table.name}.${column}`)
    .join(' AND ');
}

const CREATE_STAGE = (table: Table): string => `
  CREATE TEMPORARY TABLE ${stagingTableOf(table)} ON COMMIT DROP AS
  SELECT ${columnsOf(table)} FROM ${table.name} WITH NO DATA`;

const DELETE_OTHERS = (table: Table): string => `
  DELETE FROM ${table.name} WHERE NOT EXISTS (
    SELECT FROM ${stagingTableOf(table)} WHERE ${same(table, table.key, '=')}
    ${isReferenced(table) ? '' : `AND ${same(table, table.values, '=')}`}
  )`;

const UPDATE_CHANGED = (table: Table): string => `
  UPDATE ${table.name}
  SET ${table.values.map((column) => `${column} = ${stagingTableOf(table)}.${column}`).join(', ')}
  FROM ${stagingTableOf(table)}
  WHERE ${same(table, table.key, '=')}
  AND NOT (${same(table, table.values, 'IS NOT DISTINCT FROM')})`;

const INSERT_NEW = (table: Table): string => `
  INSERT INTO ${table.name} (${columnsOf(table)})
  SELECT ${columnsOf(table)} FROM ${stagingTableOf(table)} WHERE NOT EXISTS (
    SELECT FROM ${table.name} WHERE ${same(table, table.key, '=')}
  )`;

/**
 * Joins are made by hashing or sorting, whatever PostgreSQL believes about the tables: a nested loop that was planned
 * for a few rows takes minutes when there are many.
 */
const NO_NESTED_LOOPS = 'SET LOCAL enable_nestloop = off';

/**
 * Updates the statistics of the planner. PostgreSQL checks references by a query for each row: one that was planned for
 * a small table would read the whole table each time. Skips a table that is being analysed.
 */
const ANALYZE = ({ name }: Table): string => `ANALYZE (SKIP_LOCKED) ${name}`;

/** When the profile table was empty, there are no schedules to keep. */
const DELETE_SCHEDULES = (profilesAreStaged: boolean): string[] =>
  profilesAreStaged
    ? ['profile_id', 'target_profile_id'].map(
        (column) =>
          `DELETE FROM schedule WHERE NOT EXISTS (SELECT FROM new_profile WHERE id = ${column})`,
      )
    : ['DELETE FROM schedule'];
