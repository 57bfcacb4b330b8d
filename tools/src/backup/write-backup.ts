import { replaceableFile } from '@weir/ops';
import { rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type pg from 'pg';
import { explained } from '../migrate/connection.js';
import {
  BACKUP_TABLES,
  columnsOf,
  FORMAT,
  HEAD_TABLE,
  LIST_COLUMNS,
  LIST_TABLES,
  withClient,
} from './backup-tables.js';

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
  const work = async () => {
    const replaced = await replaceableFile(file);
    const unfinished = `${replaced}.new-${process.pid}`;
    try {
      return await withClient(databaseUrl, async (client) => {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const head = await client.query<{ revision: string }>(`SELECT revision FROM ${HEAD_TABLE}`);
        const out = await open(unfinished, 'wx', 0o600);
        const selects = [OWN_ROWS];
        for (const table of BACKUP_TABLES) selects.push(await rowsOf(client, table));
        for (const table of LIST_TABLES)
          selects.push(...LIST_COLUMNS.map((column) => piecesOf(table, column)));
        const rows = client.query(copyTo(`COPY (${selects.join(' UNION ALL ')}) TO STDOUT`));
        await pipeline(rows, createGzip(), out.createWriteStream({ flush: true }), { signal });
        // Before the connection ends, for which a host that is gone would let it wait.
        await rename(unfinished, replaced);
        await using folder = await open(dirname(replaced));
        await folder.sync();
        return head.rows[0].revision;
      });
    } finally {
      rmSync(unfinished, { force: true });
    }
  };
  return explained(signal, () => 'the backup failed', work);
}
