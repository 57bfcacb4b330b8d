import { replaceableFile, StartError } from '@weir/ops';
import { rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type pg from 'pg';
import { withConnection } from '../migrate/connection.js';

/** Name of the first row of a backup, which tells what it is. */
export const FORMAT = 'weir-backup-2';

/** The table with the one row that every change locks. */
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

/** Tables and columns with the names of lists. A backup has them in pieces: a value of jsonb has at most 256 MB. */
export const LIST_TABLES: readonly string[] = ['catalogue_source', 'catalogue_held'];
export const LIST_COLUMNS = ['names', 'places', 'protected'] as const;
const PIECE_BYTES = 2 ** 20;

/** The first row of a backup. */
const OWN_ROWS = `
  SELECT '${FORMAT}', jsonb_build_object('madeAt', now(), 'head', to_jsonb(head) - '{id,lineage}'::text[],
    'migrations', (SELECT jsonb_object_agg(migration_name, checksum) FROM _prisma_migrations WHERE rolled_back_at IS NULL))
  FROM ${HEAD_TABLE} AS head`;

/** The rows of a table, without the columns that are in pieces. */
async function rowsOf(client: pg.Client, table: string): Promise<string> {
  const others = `attname <> ALL ('{${LIST_COLUMNS.join()}}')`;
  const columns = LIST_TABLES.includes(table) ? await columnsOf(client, table, others) : '*';
  // Of the catalogue's images only the one in force: nobody fetches another one.
  const inForce = `WHERE version = (SELECT catalogue_version FROM ${HEAD_TABLE})`;
  const which = table.startsWith('catalogue_image') ? inForce : '';
  return `SELECT '${table}', to_jsonb(one) FROM (SELECT ${columns} FROM ${table} ${which}) AS one`;
}

const piecesOf = (table: string, column: string): string => `
  SELECT '${table}.${column}', jsonb_build_object('name', name, 'at', at,
    'bytes', substring(${column} FROM at + 1 FOR ${PIECE_BYTES}))
  FROM ${table}, generate_series(0, greatest(octet_length(${column}) - 1, 0), ${PIECE_BYTES}) AS at
  WHERE ${column} IS NOT NULL`;

/** Overrides settings of the database: our statements may take long, and the text format must be fixed. */
const SETTINGS = `
  SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET bytea_output = 'hex'; SET client_encoding = 'UTF8'`;

/**
 * Runs `use` with its own connection.
 * @param failed what to say when it fails for a reason that an operator can mend
 * @throws StartError with one line then, and the reason of `signal` when that is aborted
 */
export async function withClient<T>(
  databaseUrl: string,
  signal: AbortSignal,
  failed: () => string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const work = (client: pg.Client) => client.query(SETTINGS).then(() => use(client));
  try {
    const hint = 'DATABASE_URL, or the local stack';
    return await withConnection(databaseUrl, work, hint, 'weir-backup');
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, detail } = error as pg.DatabaseError;
    const isKnown = error instanceof StartError || code !== undefined;
    if (!isKnown && !message.startsWith('Connection terminated')) throw error;
    const more = detail === undefined ? '' : ` (${detail})`;
    throw new StartError(`${failed()}: ${message}${more}`, { cause: error });
  }
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

/**
 * Writes the contents of the database at one moment into a file that only its owner may read. It blocks no changes.
 * The file is complete or it does not exist, even after a power failure. A link stays: what it leads to is replaced.
 * @param signal aborts the work; its reason is thrown
 * @returns the revision
 * @throws StartError with one line: the database or the file is not available or failed
 */
export function writeBackup(
  databaseUrl: string,
  file: string,
  signal: AbortSignal,
): Promise<string> {
  const failed = () => 'the backup failed';
  return withClient(databaseUrl, signal, failed, async (client) => {
    const replaced = await replaceableFile(file);
    const unfinished = `${replaced}.new-${process.pid}`;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const head = await client.query<{ revision: string }>(`SELECT revision FROM ${HEAD_TABLE}`);
      const out = await open(unfinished, 'wx', 0o600);
      const selects = [OWN_ROWS];
      for (const table of BACKUP_TABLES) selects.push(await rowsOf(client, table));
      for (const table of LIST_TABLES)
        selects.push(...LIST_COLUMNS.map((column) => piecesOf(table, column)));
      const rows = client.query(copyTo(`COPY (${selects.join(' UNION ALL ')}) TO STDOUT`));
      await pipeline(rows, createGzip(), out.createWriteStream({ flush: true }), { signal });
      await rename(unfinished, replaced);
      await using folder = await open(dirname(replaced));
      await folder.sync();
      return head.rows[0].revision;
    } finally {
      rmSync(unfinished, { force: true });
    }
  });
}
