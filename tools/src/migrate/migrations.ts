import { StartError } from '@weir/ops';
import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';
import { withConnection } from './connection.js';

/** Those of this release. */
export const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

/** One migration file. */
export interface Migration {
  /** Name of its folder: `<timestamp>_<what>`; migrations are applied in the order of their names. */
  readonly name: string;
  readonly sql: string;
  /** sha256 of the file, as Prisma records it. */
  readonly checksum: string;
}

/** Marks a file whose statements cannot run in a transaction, such as `CREATE INDEX CONCURRENTLY`. */
const NO_TRANSACTION = /^-- transaction: none$/m;

/** Reads the migrations of a folder with Prisma's layout: `<name>/migration.sql`. */
export async function readMigrations(folder = MIGRATIONS): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new StartError(`the migrations in ${folder} cannot be read`, { cause });
  });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.sort().map((name) => readMigration(folder, name)));
}

export function runsInTransaction(sql: string): boolean {
  return !NO_TRANSACTION.test(sql);
}

/**
 * Splits a file without a transaction into statements. Each ends with a semicolon at the end of a line, and has no
 * other semicolon there.
 */
export function splitStatements(sql: string): string[] {
  const pieces = sql.split(/;[ \t]*$/m);
  return pieces.filter((piece) => piece.replace(/--.*$/gm, '').trim() !== '');
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  const file = join(folder, name, 'migration.sql');
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new StartError(`${file} cannot be read`, { cause });
  });
  const checksum = createHash('sha256').update(bytes).digest('hex');
  return { name, sql: bytes.toString('utf8'), checksum };
}

/**
 * Lists applied and pending migrations: one line for each, sorted by name. Changes nothing and takes no lock.
 * @throws StartError as `migrate` does.
 */
export async function readStatus(
  databaseUrl: string,
  folder?: string,
): Promise<{ readonly lines: readonly string[]; readonly isUpToDate: boolean }> {
  const migrations = await readMigrations(folder);
  return withConnection(databaseUrl, async (client) => {
    const log = await readLog(client);
    const { pending, newer } = compare(log, migrations);
    const applied = log.logged.map(({ name, finishedAt }) => {
      const state = newer.includes(name) ? 'newer  ' : 'applied';
      return `${state}  ${name}  ${finishedAt?.toISOString()}`;
    });
    const lines = [...applied, ...pending.map(({ name }) => `pending  ${name}`)];
    return { lines, isUpToDate: pending.length === 0 };
  });
}

/** Creates the log: the table of Prisma, so that Prisma's command line and this runner see each other's migrations. */
export const CREATE_LOG = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  varchar(36) PRIMARY KEY NOT NULL,
    checksum            varchar(64) NOT NULL,
    finished_at         timestamptz,
    migration_name      varchar(255) NOT NULL,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`;

/** A migration in the log of a database. */
interface LoggedMigration {
  readonly name: string;
  readonly checksum: string;
  /** Null: `prisma migrate` started it and did not finish it. */
  readonly finishedAt: Date | null;
}

/** The migrations of a database, and the releases that can use its schema. */
interface MigrationLog {
  /** Sorted by name. */
  readonly logged: readonly LoggedMigration[];
  /** A release must know this migration to use the schema. Null: the schema does not say. */
  readonly minMigration: string | null;
}

/** Reads the log. Changes nothing. */
export async function readLog(client: Client): Promise<MigrationLog> {
  const logged = await readIfThere<LoggedMigration>(
    client,
    '_prisma_migrations',
    `SELECT migration_name AS name, checksum, finished_at AS "finishedAt" FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`,
  );
  const [compatibility] = await readIfThere<{ minMigration: string }>(
    client,
    'schema_compatibility',
    'SELECT min_migration AS "minMigration" FROM schema_compatibility',
  );
  return { logged, minMigration: compatibility?.minMigration ?? null };
}

/** @returns no rows when there is no such table */
async function readIfThere<R extends object>(client: Client, table: string, query: string) {
  const there = 'SELECT to_regclass($1) IS NOT NULL AS there';
  const { rows } = await client.query<{ there: boolean }>(there, [table]);
  return rows[0].there ? (await client.query<R>(query)).rows : [];
}

/** Records a migration as applied, in the transaction that applied it if there is one. */
export async function logMigration(
  client: Client,
  { name, checksum }: Migration,
  startedAt: Date,
): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name, startedAt],
  );
}

/**
 * Compares the migrations of this release with those of a database.
 * @returns the pending ones, and the names of those of a newer release
 * @throws StartError when the database and the files contradict each other, or only newer releases can use the
 * database.
 */
export function compare(
  { logged, minMigration }: MigrationLog,
  migrations: readonly Migration[],
): { readonly pending: readonly Migration[]; readonly newer: readonly string[] } {
  const files = new Map(migrations.map((migration) => [migration.name, migration]));
  const newest = migrations.at(-1)?.name ?? '';
  for (const { name, checksum, finishedAt } of logged) {
    const file = files.get(name);
    if (finishedAt === null)
      throw new StartError(`migration ${name} failed earlier: resolve it with prisma migrate`);
    if (file === undefined && name <= newest)
      throw new StartError(`migration ${name} is in the database but not in this release`);
    if (file !== undefined && file.checksum !== checksum) {
      throw new StartError(
        `migration ${name} was changed after it was applied: its file must stay as it was`,
      );
    }
  }
  if (minMigration !== null && minMigration > newest) {
    throw new StartError(
      `the database is for releases that know migration ${minMigration}, ` +
        `the newest one here is ${newest}: use a newer release`,
    );
  }
  const applied = new Set(logged.map(({ name }) => name));
  const pending = migrations.filter(({ name }) => !applied.has(name));
  const last = logged.at(-1)?.name ?? '';
  const late = pending.find(({ name }) => name < last);
  if (late !== undefined) {
    throw new StartError(
      `migration ${late.name} comes before ${last}, which is applied already: give it a later name`,
    );
  }
  return { pending, newer: [...applied].filter((name) => name > newest) };
}
