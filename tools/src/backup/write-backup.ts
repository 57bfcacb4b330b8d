import { replaceableFile } from '@weir/ops';
import { rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type { Client } from 'pg';
import { columnsOf, withClient } from './database.js';

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

/**
 * Columns with the names of a list, hundreds of megabytes of them, by table. A backup has them in pieces: a value of
 * jsonb has at most 256 MB.
 */
export const LIST_TABLES: readonly string[] = ['catalogue_source', 'catalogue_held'];
export const LIST_COLUMNS = ['names', 'places', 'protected'] as const;
const PIECE_BYTES = 2 ** 20;

const IMAGE_IN_FORCE = `WHERE version = (SELECT catalogue_version FROM ${HEAD_TABLE})`;

/** Those rows of a backup that tell what it is, and the pieces of lists. */
const OWN_ROWS = `
  SELECT '${FORMAT}', jsonb_build_object('madeAt', now(), 'head', to_jsonb(head) - '{id,lineage}'::text[],
    'migrations', (SELECT jsonb_object_agg(migration_name, checksum) FROM _prisma_migrations WHERE rolled_back_at IS NULL))
  FROM ${HEAD_TABLE} AS head`;

/** The rows of a table, without the columns that are in pieces. */
async function rowsOf(client: Client, table: string): Promise<string> {
  const others = `attname <> ALL ('{${LIST_COLUMNS.join()}}')`;
  const columns = LIST_TABLES.includes(table) ? await columnsOf(client, table, others) : '*';
  // Of the catalogue's images only the one in force: nobody fetches another one.
  const which = table.startsWith('catalogue_image') ? IMAGE_IN_FORCE : '';
  return `SELECT '${table}', to_jsonb(one) FROM (SELECT ${columns} FROM ${table} ${which}) AS one`;
}

const piecesOf = (table: string, column: string): string => `
  SELECT '${table}.${column}', jsonb_build_object('name', name, 'at', at,
    'bytes', substring(${column} FROM at + 1 FOR ${PIECE_BYTES}))
  FROM ${table}, generate_series(0, greatest(octet_length(${column}) - 1, 0), ${PIECE_BYTES}) AS at
  WHERE ${column} IS NOT NULL`;

/**
 * Writes the contents of the database at one moment into a file that only its owner may read. It blocks no changes.
 * The file is complete or it does not exist, even after a power failure. A link stays: what it leads to is replaced.
 * @param signal aborts the work; its reason is thrown
 * @returns the revision
 * @throws StartError with one line: the database or the file is not available or failed
 */
export function writeBackup(databaseUrl: string, file: string, signal: AbortSignal) {
  return withClient(
    databaseUrl,
    signal,
    () => 'the backup failed',
    async (client) => {
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
    },
  );
}
