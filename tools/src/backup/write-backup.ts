import { replaceableFile } from '@weir/ops';
import { rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type { Client } from 'pg';
import { toStartError, withClient } from './database.js';

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

/**
 * Columns with the names of a list, hundreds of megabytes of them, by table. A backup has them in pieces: a value of
 * jsonb has at most 256 MB.
 */
export const LIST_TABLES: readonly string[] = ['catalogue_source', 'catalogue_held'];
export const LIST_COLUMNS = ['names', 'places', 'protected'] as const;
const PIECE_BYTES = 2 ** 20;

const IMAGE_IN_FORCE = `WHERE version = (SELECT catalogue_version FROM ${HEAD_TABLE})`;

/** The rows of a backup. @param others the other columns of each of `LIST_TABLES`, separated by commas */
const rowsOf = (others: Readonly<Record<string, string>>): string => `
  SELECT '${FORMAT}', jsonb_build_object('madeAt', now(), 'head', to_jsonb(head) - '{id,lineage}'::text[],
    'migrations', (SELECT jsonb_object_agg(migration_name, checksum) FROM _prisma_migrations WHERE rolled_back_at IS NULL))
  FROM ${HEAD_TABLE} AS head
  ${BACKUP_TABLES.map((name) => {
    // Of the catalogue's images only the one in force: nobody fetches another one.
    const which = name.startsWith('catalogue_image') ? IMAGE_IN_FORCE : '';
    const columns = others[name] ?? '*';
    return `UNION ALL SELECT '${name}', to_jsonb(one) FROM (SELECT ${columns} FROM ${name} ${which}) AS one`;
  }).join('\n')}
  ${LIST_TABLES.flatMap((name) => LIST_COLUMNS.map((column) => piecesOf(name, column))).join('\n')}`;

const piecesOf = (table: string, column: string): string => `
  UNION ALL SELECT '${table}.${column}', jsonb_build_object('name', name, 'at', at,
    'bytes', substring(${column} FROM at + 1 FOR ${PIECE_BYTES}))
  FROM ${table}, generate_series(0, greatest(octet_length(${column}) - 1, 0), ${PIECE_BYTES}) AS at
  WHERE ${column} IS NOT NULL`;

async function otherColumns(client: Client): Promise<Readonly<Record<string, string>>> {
  const { rows } = await client.query<{ table: string; columns: string }>(
    `SELECT attrelid::regclass::text AS table, string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
     WHERE attrelid = ANY ($1::regclass[]) AND attnum > 0 AND NOT attisdropped AND attname <> ALL ($2) GROUP BY 1`,
    [LIST_TABLES, LIST_COLUMNS],
  );
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]));
}

/**
 * Writes the contents of the database at one moment into a file that only its owner may read. It blocks no changes.
 * The file is complete or it does not exist, even after a power failure. A link stays: what it leads to is replaced.
 * @param signal aborts the work; its reason is thrown
 * @returns the revision
 * @throws StartError with one line: the database or the file is not available or failed
 */
export async function writeBackup(
  databaseUrl: string,
  file: string,
  signal: AbortSignal,
): Promise<string> {
  let unfinished: string | undefined;
  try {
    const replaced = await replaceableFile(file);
    const written = `${replaced}.new-${process.pid}`;
    unfinished = written;
    const revision = await withClient(databaseUrl, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const head = await client.query<{ revision: string }>(`SELECT revision FROM ${HEAD_TABLE}`);
      const out = await open(written, 'wx', 0o600);
      const rows = client.query(copyTo(`COPY (${rowsOf(await otherColumns(client))}) TO STDOUT`));
      await pipeline(rows, createGzip(), out.createWriteStream({ flush: true }), { signal });
      return head.rows[0].revision;
    });
    await rename(written, replaced);
    await using folder = await open(dirname(replaced));
    await folder.sync();
    return revision;
  } catch (error) {
    if (unfinished !== undefined) rmSync(unfinished, { force: true });
    signal.throwIfAborted();
    throw toStartError('the backup failed', error);
  }
}
