import { createGzip } from 'node:zlib';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { END_OF_ROWS } from './copy-lines.js';
import { withClient } from './database.js';
import { toStartError } from './start-error.js';
import { createManifest, type Manifest, type Section } from './manifest.js';
import { RowProgress } from './row-progress.js';
import {
  columnList,
  currentSchema,
  HEAD_TABLE,
  quoted,
  readAppliedMigrations,
  readTables,
  type Table,
} from './tables.js';
import { writeStreamAtomically } from './atomic-file.js';

export interface BackupOptions {
  readonly databaseUrl: string;
  readonly file: string;
  /** Called with each step. */
  readonly log: (line: string) => void;
  /** Aborts the work; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** Only the catalogue image in force: nobody fetches another one. */
const WHERE: Readonly<Record<string, string>> = {
  catalogue_image: `WHERE version = (SELECT catalogue_version FROM ${HEAD_TABLE})`,
  catalogue_image_piece: `WHERE version = (SELECT catalogue_version FROM ${HEAD_TABLE})`,
};

/**
 * Writes the contents of the database at one moment into a file. It blocks no changes.
 * @throws StartError with one line: the database or the file is not available or failed.
 */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const { databaseUrl, file, log, signal } = options;
  return withClient(databaseUrl, async (client) => {
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const manifest = await readManifest(client);
      log(`backing up revision ${manifest.revision}`);
      await writeStreamAtomically(file, render(client, manifest, log), createGzip(), signal);
      return manifest;
    } catch (error) {
      signal.throwIfAborted();
      throw toStartError('the backup failed', error);
    }
  });
}

async function readManifest(client: Client): Promise<Manifest> {
  const migrations = await readAppliedMigrations(client);
  const heads = await client.query<Omit<Manifest, 'format' | 'version' | 'madeAt' | 'migrations'>>(`
    SELECT revision::float8, digest, lineage,
           domain_hash_check AS "domainHashCheck"
    FROM ${HEAD_TABLE}`);
  const [head] = heads.rows;
  if (head === undefined) throw new Error(`${HEAD_TABLE} has lost its row`);
  const madeAt = new Date().toISOString();
  return createManifest({ madeAt, ...head, migrations });
}

async function* render(
  client: Client,
  manifest: Manifest,
  log: (line: string) => void,
): AsyncGenerator<string | Buffer> {
  yield `${JSON.stringify(manifest)}\n`;
  const rows: Record<string, number> = {};
  for (const table of await readTables(client, await currentSchema(client))) {
    const { name, columns } = table;
    const section: Section = { table: name, columns };
    yield `${JSON.stringify(section)}\n`;
    const progress = new RowProgress(name, log);
    for await (const piece of client.query(copyTo(copyOut(table)))) {
      progress.pass(piece as Buffer);
      yield piece as Buffer;
    }
    yield END_OF_ROWS;
    rows[name] = progress.count;
  }
  yield `${JSON.stringify({ rows })}\n`;
}

function copyOut(table: Table): string {
  const query = `SELECT ${columnList(table)} FROM ${quoted(table.name)} ${WHERE[table.name] ?? ''}`;
  return `COPY (${query}) TO STDOUT`;
}
