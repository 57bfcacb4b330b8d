import { StartError } from '@weir/ops';
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Migration } from './migration-files.js';

/** Prisma's own table, so that its command line goes on from where this runner stopped, and the other way round. */
const CREATE_TABLE = `
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

/** A migration that a database has. */
export interface LoggedMigration {
  readonly name: string;
  readonly checksum: string;
  /** Null: `prisma migrate` began it and did not end it. */
  readonly finishedAt: Date | null;
}

/** What was applied to a database, and which releases its schema is for. */
export interface MigrationLog {
  /** In the order of their names. */
  readonly logged: readonly LoggedMigration[];
  /** The migration that a release must know to work on this schema. Null: the schema does not say. */
  readonly minMigration: string | null;
}

/** Makes the log where there is none. */
export async function createLog(client: Client): Promise<void> {
  await client.query(CREATE_TABLE);
}

/** Reads the log, and changes nothing. */
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

/** Notes a migration as applied, inside the transaction that applied it where there is one. */
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

/** How the migrations of this release stand to those of a database. */
export interface Comparison {
  readonly pending: readonly Migration[];
  /** Names of what a newer release has applied. */
  readonly newer: readonly string[];
}

/**
 * @throws StartError when the database and the files tell different stories, or the database is for newer releases
 * alone.
 */
export function compare(
  { logged, minMigration }: MigrationLog,
  migrations: readonly Migration[],
): Comparison {
  const files = new Map(migrations.map((migration) => [migration.name, migration]));
  const newest = migrations.at(-1)?.name ?? '';
  for (const one of logged) checkLogged(one, files.get(one.name), newest);
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

function checkLogged(logged: LoggedMigration, file: Migration | undefined, newest: string): void {
  const { name, checksum, finishedAt } = logged;
  if (finishedAt === null) {
    throw new StartError(`migration ${name} failed earlier: resolve it with prisma migrate`);
  }
  if (file === undefined && name <= newest) {
    throw new StartError(`migration ${name} is in the database but not in this release`);
  }
  if (file !== undefined && file.checksum !== checksum) {
    throw new StartError(
      `migration ${name} was changed after it was applied: its file must stay as it was`,
    );
  }
}

async function readIfThere<R extends object>(
  client: Client,
  table: string,
  query: string,
): Promise<R[]> {
  const { rows } = await client.query<{ there: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS there',
    [table],
  );
  return rows[0]?.there ? (await client.query<R>(query)).rows : [];
}
