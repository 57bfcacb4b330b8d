import { Digest } from '@weir/config-model';
import type { PoolClient } from 'pg';
import { SNAPSHOT_TABLES } from '../../feed/entity-tables.js';
import { copyIn } from '../../platform/database/copy-in.js';
import type { Replacement } from '../../revisions/configuration-writer.js';
import type { Draft } from '../draft/draft-tables.js';
import { Yielder } from '../../platform/yielder.js';
import { Difference, MAX_LOGGED_ROWS } from './difference.js';
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
  await client.query(MEMORY_OF_JOINS);
  const { staged, differentRows } = await stage(client, rows);
  const isLarge = differentRows > MAX_LOGGED_ROWS;
  const checksDisabled = isLarge && (await disableReferenceChecks(client));
  const profilesAreStaged = TABLES.some((table) => table.name === 'profile' && staged.has(table));
  for (const statement of DELETE_SCHEDULES(profilesAreStaged)) {
    await difference.deleteSchedulesBy(statement);
  }
  for (const table of staged.keys()) {
    if (!isReferenced(table)) await difference.deleteBy(DELETE_DIFFERENT(table), table.name);
  }
  for (const table of TABLES) {
    const count = staged.get(table) ?? (await copyTable(client, table, table.name, rows));
    if (!staged.has(table)) await difference.putAll(table.name);
    else for (const statement of putsOf(table)) await difference.putBy(statement, table.name);
    await analyse(client, table, count);
  }
  // Last, when no row refers to them any more.
  const referredTo = [...staged.keys()].filter(isReferenced).toReversed();
  for (const table of referredTo) await difference.deleteBy(DELETE_OTHERS(table), table.name);
  if (checksDisabled) await checkReferences(client);
  // Schedules and the catalogue are not part of the draft.
  for (const kind of ['schedule', 'catalogue'] as const) {
    const kept = await client.query<object>(SNAPSHOT_TABLES[kind].sql);
    for (const row of kept.rows) digest.add(kind, SNAPSHOT_TABLES[kind].toRow(row));
  }
  return { digest: digest.toString(), operations: await difference.operations() };
}

interface Stage {
  /** The tables that had rows, each with the number of its rows in the draft. */
  readonly staged: ReadonlyMap<Table, number>;
  /** The rows to delete and to insert, without those of staged tables that others refer to. */
  readonly differentRows: number;
}

/** Copies the draft's rows of each table that has rows into a staging table, and finds the differences. */
async function stage(client: PoolClient, rows: DraftRows): Promise<Stage> {
  const staged = new Map<Table, number>();
  let differentRows = 0;
  for (const table of TABLES) {
    if (await isEmpty(client, table)) {
      differentRows += rows.countOf(table.name);
      continue;
    }
    await client.query(CREATE_STAGE(table));
    staged.set(table, await copyTable(client, table, stagingTableOf(table), rows));
    if (isReferenced(table)) continue;
    const { rowCount } = await client.query(FIND_DIFFERENCES(table));
    differentRows += rowCount ?? 0;
  }
  return { staged, differentRows };
}

/** Copies the draft's rows of a table. @returns their number. */
function copyTable(
  client: PoolClient,
  table: Table,
  target: string,
  rows: DraftRows,
): Promise<number> {
  return copyIn(client, `${target} (${columnsOf(table)})`, rows.of(table.name));
}

/** The statements that insert the new rows of a staged table, and update those of a referenced one. */
function putsOf(table: Table): string[] {
  return isReferenced(table)
    ? [UPDATE_CHANGED(table), INSERT_NEW(table)]
    : [INSERT_DIFFERENT(table)];
}

/**
 * PostgreSQL checks the foreign keys of each row separately, which is the slowest part of a large load. If the database
 * user has the privilege, the checks are disabled for this transaction, and one query per foreign key does them at the
 * end.
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

/** Share by which a table may have grown or shrunk since its statistics were made, as in PostgreSQL's autovacuum. */
const STALE_SHARE = 0.1;

/**
 * Updates the statistics of the planner if they were made for another number of rows. PostgreSQL checks references by a
 * query for each row: one that was planned for a small table would read the whole table each time. Skips a table that
 * is being analysed.
 */
async function analyse(client: PoolClient, { name }: Table, count: number): Promise<void> {
  const { rows } = await client.query<{ known: number }>(
    `SELECT reltuples AS known FROM pg_class WHERE oid = '${name}'::regclass`,
  );
  const known = rows[0]?.known ?? -1;
  if (Math.abs(count - known) <= known * STALE_SHARE) return;
  await client.query(`ANALYZE (SKIP_LOCKED) ${name}`);
}

function stagingTableOf({ name }: Table): string {
  return `new_${name}`;
}

function differencesOf({ name }: Table): string {
  return `different_${name}`;
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
  )`;

/**
 * Compares a table with its staging table once. `stored` is the place of a stored row that is not in the draft. It is
 * null for a row of the draft that is not stored.
 */
const FIND_DIFFERENCES = (table: Table): string => `
  CREATE TEMPORARY TABLE ${differencesOf(table)} ON COMMIT DROP AS
  SELECT ${table.name}.ctid AS stored, ${stagingTableOf(table)}.*
  FROM ${table.name} FULL JOIN ${stagingTableOf(table)}
  ON ${same(table, [...table.key, ...table.values], '=')}
  WHERE ${table.name}.ctid IS NULL OR ${stagingTableOf(table)}.ctid IS NULL`;

const DELETE_DIFFERENT = (table: Table): string => `
  DELETE FROM ${table.name} WHERE ctid = ANY (ARRAY(
    SELECT stored FROM ${differencesOf(table)} WHERE stored IS NOT NULL
  ))`;

const INSERT_DIFFERENT = (table: Table): string => `
  INSERT INTO ${table.name} (${columnsOf(table)})
  SELECT ${columnsOf(table)} FROM ${differencesOf(table)} WHERE stored IS NULL`;

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

/** The joins of a million rows then need no temporary files. One transaction at a time has it. */
const MEMORY_OF_JOINS = "SET LOCAL work_mem = '64MB'";

/** When the profile table was empty, there are no schedules to keep. */
const DELETE_SCHEDULES = (profilesAreStaged: boolean): string[] =>
  profilesAreStaged
    ? ['profile_id', 'target_profile_id'].map(
        (column) =>
          `DELETE FROM schedule WHERE NOT EXISTS (SELECT FROM new_profile WHERE id = ${column})`,
      )
    : ['DELETE FROM schedule'];
