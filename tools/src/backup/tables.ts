import pg, { type Client } from 'pg';
import type { AppliedMigration } from './manifest.js';

export interface Table {
  readonly name: string;
  /** Columns without generated ones. */
  readonly columns: readonly string[];
}

/** The table with the one row that every change locks. */
export const HEAD_TABLE = 'config_head';

/** The tables of a backup. Each comes after the tables that it refers to. */
export const BACKUP_TABLES: readonly string[] = [
  'catalogue_source',
  'catalogue_held',
  'catalogue_image',
  'catalogue_image_piece',
  HEAD_TABLE,
  'block_page',
  'profile',
  'application_rule',
  'domain_rule',
  'ipv4_network',
  'ipv6_network',
  'napt_assignment',
  'schedule',
  'change_record',
];

/**
 * Tables that a backup omits: those of the schema, which the migrations create again, the change log, because
 * followers of a restored database load a snapshot, and when background jobs last ran: they run once more.
 */
export const OMITTED_TABLES: readonly string[] = [
  '_prisma_migrations',
  'schema_compatibility',
  'change',
  'job_run',
];

const COLUMNS = `
  SELECT relname::text AS name, array_agg(attname::text ORDER BY attnum) AS columns
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
  WHERE relkind = 'r' AND relnamespace = to_regnamespace($1) AND relname::text = ANY ($2)
  AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
  GROUP BY relname`;

/** The backup tables that exist in a schema. An older schema may not have all of them. */
export async function readTables(client: Client, schema: string): Promise<Table[]> {
  const { rows } = await client.query<Table>(COLUMNS, [schema, BACKUP_TABLES]);
  return BACKUP_TABLES.flatMap((name) => rows.find((table) => table.name === name) ?? []);
}

/** The applied migrations of a database. */
export async function readAppliedMigrations(client: Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(`
    SELECT migration_name AS name, checksum FROM _prisma_migrations
    WHERE rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`);
  return rows;
}

/** The current schema of the connection. @throws Error when it has none. */
export async function currentSchema(client: Client): Promise<string> {
  const { rows } = await client.query<{ schema: string | null }>(
    'SELECT current_schema()::text AS schema',
  );
  const { schema } = rows[0];
  if (schema === null) throw new Error('the database has no schema to work in');
  return schema;
}

/** Quotes a table, with or without its schema, or a column for SQL. */
export function quoted(...names: readonly string[]): string {
  return names.map((name) => pg.escapeIdentifier(name)).join('.');
}

export function columnList({ columns }: Pick<Table, 'columns'>): string {
  return columns.map((column) => quoted(column)).join(', ');
}
