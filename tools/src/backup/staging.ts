import { StartError } from '@weir/ops';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { migrate } from '../migrate/migrate.js';
import type { Migration } from '../migrate/migration-files.js';
import type { BackupReader, BackupTable } from './backup-reader.js';
import { columnList, quoted, readTables, type Table } from './tables.js';

/** Holds what was restored until it takes the place of what is there. */
export const STAGING = 'weir_restore';

export interface StagingOptions {
  readonly client: Client;
  readonly databaseUrl: string;
  readonly backup: BackupReader;
  /** Those of the backup, and all of this release. */
  readonly migrations: readonly Migration[];
  readonly known: readonly Migration[];
  /** Gives up; its reason is thrown. */
  readonly signal: AbortSignal;
}

/**
 * Loads a backup into a separate schema, and migrates it to the schema of this release. Other users of the database
 * do not notice it.
 */
export async function stage(options: StagingOptions): Promise<void> {
  const { client, backup, migrations, known } = options;
  await dropStaging(client);
  await client.query(`CREATE SCHEMA ${STAGING}`);
  await migrateStaging(options, migrations);
  await client.query('BEGIN');
  const tables = await readTables(client, STAGING);
  // The backup contains the rows that the migrations insert.
  for (const { name } of tables.toReversed())
    await client.query(`DELETE FROM ${quoted(STAGING, name)}`);
  for await (const table of backup.tables()) await load(options, tables, table);
  await client.query('COMMIT');
  if (migrations.length < known.length) await migrateStaging(options, known);
}

export async function dropStaging(client: Client): Promise<void> {
  await client.query(`DROP SCHEMA IF EXISTS ${STAGING} CASCADE`);
}

async function load(
  { client, signal }: StagingOptions,
  tables: readonly Table[],
  { table: name, columns, rows }: BackupTable,
): Promise<void> {
  const table = tables.find((one) => one.name === name);
  const hasAll = columns.every((column) => table?.columns.includes(column));
  if (!hasAll) throw new StartError(`its table ${name} is not as its schema says`);
  const target = `${quoted(STAGING, name)} (${columnList({ columns })})`;
  const copy = client.query(copyFrom(`COPY ${target} FROM STDIN`));
  await pipeline(Readable.from(rows), copy, { signal });
}

/** The migrations name no schema, so they work in the first one of `search_path`. */
async function migrateStaging(
  { databaseUrl }: StagingOptions,
  migrations: readonly Migration[],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-restore-'));
  try {
    for (const { name, sql } of migrations) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'migration.sql'), sql);
    }
    await migrate({ databaseUrl: withSearchPath(databaseUrl, STAGING), folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function withSearchPath(databaseUrl: string, schema: string): string {
  const url = new URL(databaseUrl);
  const options = url.searchParams.get('options') ?? '';
  url.searchParams.set('options', `${options} -c search_path=${schema}`.trim());
  return url.href;
}
