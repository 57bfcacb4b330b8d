import type pg from 'pg';
import { withConnection } from '../migrate/connection.js';

/** Name of the first row of a backup, which tells what it is. */
export const FORMAT = 'weir-backup-2';

/** The table with the one row that every change locks. A backup has it in its first row. */
export const HEAD_TABLE = 'config_head';

/** The tables of a backup. Each comes after the tables that it refers to. */
export const BACKUP_TABLES = [
  'catalogue_definition',
  'catalogue_source',
  'catalogue_held',
  'catalogue_image',
  'catalogue_image_piece',
  'block_page',
  'profile',
  'application_rule',
  'domain_rule',
  'ipv4_network',
  'ipv6_network',
  'napt_assignment',
  'schedule',
  'domain_grant',
  'domain_order',
  'change_record',
  'change_record_profile',
] as const;

/**
 * Tables that a backup omits: those of the schema, which the migrations create again, the change log, because
 * followers of a restored database load a snapshot, and when background jobs last ran: they run once more.
 */
export const OMITTED_TABLES = ['_prisma_migrations', 'schema_compatibility', 'change', 'job_run'];

/** Tables and columns with names of lists, hundreds of MB: a backup has them in pieces, as jsonb has at most 256 MB. */
export const LIST_TABLES: readonly string[] = ['catalogue_source', 'catalogue_held'];
export const LIST_COLUMNS = ['names', 'places', 'protected'] as const;

/** Runs `use` with its own connection. @throws StartError with one line when the database cannot be reached */
export function withClient<T>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return withConnection(databaseUrl, use, 'DATABASE_URL, or the local stack', 'weir-backup');
}

/** Columns of a table that have values of their own. @param isWanted a condition on `attname` */
export async function columnsOf(
  client: pg.Client,
  table: string,
  isWanted: string,
): Promise<string | null> {
  const { rows } = await client.query<{ columns: string | null }>(
    `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND ${isWanted}`,
    [table],
  );
  return rows[0].columns;
}
