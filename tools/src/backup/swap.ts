import { StartError } from '@weir/ops';
import type { Client } from 'pg';
import { STAGING } from './staging.js';
import { columnList, currentSchema, HEAD_TABLE, quoted, readTables, type Table } from './tables.js';

/**
 * Replaces the live rows by the staged ones, in a transaction, so that nobody sees a part of it. Changes wait for
 * the end; readers keep their snapshot.
 * @param check is called when nobody else can change anything any more. If it throws, nothing is changed.
 */
export async function swapIn(client: Client, check: () => Promise<void>): Promise<void> {
  const schema = await currentSchema(client);
  const tables = (await readTables(client, schema)).filter(({ name }) => name !== HEAD_TABLE);
  const names = tables.map(({ name }) => quoted(name));
  // First the row that every change locks first, to avoid deadlocks.
  await client.query(`SELECT FROM ${HEAD_TABLE} FOR UPDATE`);
  await client.query(`LOCK TABLE ${names.join(', ')}, change IN SHARE ROW EXCLUSIVE MODE`);
  await check();
  await leaveReferencesUnchecked(client);
  await client.query(`UPDATE ${HEAD_TABLE} SET catalogue_version = NULL`);
  // Not TRUNCATE: readers with an older snapshot would see empty tables.
  for (const name of ['change', ...names.toReversed()]) await client.query(`DELETE FROM ${name}`);
  const ownTypes = await readOwnTypes(client, schema);
  for (const table of tables) await client.query(INSERT_STAGED(table, ownTypes));
  await updateHead(client, schema);
  await raiseSequences(client, schema);
}

/**
 * Each schema has its own copy of the types that migrations create, so their values are converted through text. By
 * `table.column`.
 */
async function readOwnTypes(client: Client, schema: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ at: string; type: string }>(
    `SELECT relname || '.' || attname AS at, format_type(atttypid, atttypmod) AS type
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_type ON pg_type.oid = atttypid
     WHERE relkind = 'r' AND relnamespace = to_regnamespace($1) AND typnamespace = relnamespace`,
    [schema],
  );
  return new Map(rows.map(({ at, type }) => [at, type]));
}

const INSERT_STAGED = (table: Table, ownTypes: ReadonlyMap<string, string>): string => {
  const values = table.columns.map((column) => {
    const type = ownTypes.get(`${table.name}.${column}`);
    return type === undefined ? quoted(column) : `${quoted(column)}::text::${type}`;
  });
  return `
    INSERT INTO ${quoted(table.name)} (${columnList(table)})
    SELECT ${values.join(', ')} FROM ${quoted(STAGING, table.name)}`;
};

/**
 * Updates the row in place, because changes wait for it. A new lineage tells the new log from the old one.
 */
async function updateHead(client: Client, schema: string): Promise<void> {
  const head = (await readTables(client, schema)).find(({ name }) => name === HEAD_TABLE);
  const columns = (head?.columns ?? []).filter((column) => !['id', 'lineage'].includes(column));
  const values = columns.map((column) =>
    // `check` found the keys to be equal, unless the backup does not have one.
    column === 'domain_hash_check'
      ? `coalesce(staged.${column}, ${HEAD_TABLE}.${column})`
      : `staged.${quoted(column)}`,
  );
  const { rowCount } = await client.query(`
    UPDATE ${HEAD_TABLE} SET (${columnList({ columns })}) = (${values.join(', ')}), lineage = gen_random_uuid()
    FROM ${quoted(STAGING, HEAD_TABLE)} AS staged`);
  if (rowCount !== 1) throw new StartError(`it has no row of ${HEAD_TABLE}`);
}

/** Never lowers a sequence: a number that was used in this database, or is in a cache, must not be used again. */
async function raiseSequences(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `SELECT * FROM (
       SELECT relname::text AS "table", attname::text AS "column",
              pg_get_serial_sequence(quote_ident(nspname) || '.' || quote_ident(relname), attname) AS sequence
       FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE relkind = 'r' AND nspname = $1 AND attnum > 0 AND NOT attisdropped
     ) AS columns WHERE sequence IS NOT NULL`,
    [schema],
  );
  for (const { table, column, sequence } of rows) {
    await client.query(
      `SELECT setval($1, greatest(last_value, (SELECT max(${quoted(column)}) FROM ${quoted(table)})))
       FROM ${sequence}`,
      [sequence],
    );
  }
}

/**
 * Switches off foreign-key checks until the transaction ends, if the database user may do that. The rows were
 * checked when they were staged, and changes wait.
 */
async function leaveReferencesUnchecked(client: Client): Promise<void> {
  const { rows } = await client.query<{ may: boolean }>(
    "SELECT has_parameter_privilege('session_replication_role', 'SET') AS may",
  );
  if (rows[0].may) await client.query('SET LOCAL session_replication_role = replica');
}
