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

interface LoggedMigration {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

/** What was applied to a database, as its `_prisma_migrations` says. */
export class MigrationLog {
  private constructor(
    private readonly client: Client,
    private readonly logged: ReadonlyMap<string, LoggedMigration>,
  ) {}

  static async open(client: Client): Promise<MigrationLog> {
    await client.query(CREATE_TABLE);
    const { rows } = await client.query<LoggedMigration>(
      `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished
       FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    );
    return new MigrationLog(client, new Map(rows.map((row) => [row.migration_name, row])));
  }

  /**
   * The migrations that are still to be applied.
   * @throws StartError when the database and the files tell different stories.
   */
  pending(migrations: readonly Migration[]): Migration[] {
    const known = new Set(migrations.map(({ name }) => name));
    for (const { migration_name: name, finished } of this.logged.values()) {
      if (!finished) {
        throw new StartError(`migration ${name} failed earlier: resolve it with prisma migrate`);
      }
      if (!known.has(name)) {
        throw new StartError(
          `migration ${name} is in the database but not in this version: it is older than the database`,
        );
      }
    }
    return migrations.filter((migration) => this.isPending(migration));
  }

  /** Notes a migration as applied, inside the transaction that applied it. */
  async add({ name, checksum }: Migration): Promise<void> {
    await this.client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
  }

  private isPending({ name, checksum }: Migration): boolean {
    const logged = this.logged.get(name);
    if (logged && logged.checksum !== checksum) {
      throw new StartError(
        `migration ${name} was changed after it was applied: its file must stay as it was`,
      );
    }
    return logged === undefined;
  }
}
