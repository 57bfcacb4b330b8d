import type { OnModuleInit } from '@nestjs/common';
import { hashDomain, type HashKey } from '@weir/dns-name';
import { type Logger, StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import {
  DatabaseMismatchError,
  isDatabaseUnreachable,
  UNDEFINED_TABLE,
} from '../platform/database/database-errors.js';

/** The newest migration of this release. It works with this schema, and with later schemas that allow it. */
export const SCHEMA_VERSION = '20261129000000_init';

const POLL_MS = 250;
/**
 * invalid_password, which a role that does not exist gets too, invalid_authorization_specification,
 * invalid_catalog_name, insufficient_privilege: the database may still be created, and migrations make the role and
 * give it its rights.
 */
const NOT_ADMITTED = new Set(['28P01', '28000', '3D000', '42501']);

/** `_prisma_migrations` is the log of the migration runner; `schema_compatibility` says who may use the schema. */
const READ_SCHEMA = `
  WITH applied AS (
    SELECT migration_name COLLATE "C" AS name FROM _prisma_migrations
    WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL
  )
  SELECT (SELECT max(name) FROM applied) AS newest,
         EXISTS (SELECT FROM applied WHERE name = $1) AS "hasOurs",
         (SELECT min_migration FROM schema_compatibility) AS "minMigration"`;

interface Schema {
  /** Name of a migration; null: none. */
  readonly newest: string | null;
  readonly hasOurs: boolean;
  readonly minMigration: string;
}

interface SchemaProblem {
  readonly isTooNew: boolean;
  readonly reason: string;
}

const NO_SCHEMA = 'the database has no schema yet';

/** A name that nobody can register (RFC 6761 §6.4), so its hash reveals nothing. */
const CHECKED_NAME = 'domain-hash-key.invalid';

const KEY_MISMATCH =
  'DOMAIN_HASH_KEY is not the key of this database: no domain rule in it would match. ' +
  'Set the former key, or start with an empty database';

export interface DatabaseCheckOptions {
  readonly pool: Pick<Pool, 'query'>;
  readonly key: HashKey;
  /** Longest wait of a start for pending migrations. */
  readonly waitMs: number;
  /** Called with the reason of the wait. */
  readonly onWait: (reason: string) => void;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** The newest migration of this release. */
  readonly version?: string;
}

/**
 * Whether this process may work with the database: the schema must be known to this release, and DOMAIN_HASH_KEY the
 * same as ever. The first start stores the hash of a fixed name, and every later start compares it. A wrong key would
 * not be noticed otherwise, because domains are not stored.
 */
export class DatabaseCheck implements OnModuleInit {
  private isCompatible = false;
  private isSameKey = false;
  private readonly version: string;

  constructor(private readonly options: DatabaseCheckOptions) {
    this.version = options.version ?? SCHEMA_VERSION;
  }

  /**
   * Waits for pending migrations: in a cluster they start together with this process.
   * @throws StartError when they are still pending after `waitMs`, the schema is too new, or the key is another one.
   *   When the database is out of reach, `problem` checks again later.
   */
  async onModuleInit(): Promise<void> {
    await this.waitForMigrations();
    const problem = await this.keyProblem().catch(undefinedIfUnreachable);
    if (typeof problem === 'string') throw new StartError(problem);
  }

  /**
   * Why this process must not serve; null when it may. It queries the database until it may once.
   * @throws the error of the database.
   */
  async problem(): Promise<string | null> {
    return (await this.schemaProblem())?.reason ?? this.keyProblem();
  }

  /** PostgreSQL may come later than the start. @throws DatabaseMismatchError when this process must not serve. */
  async admit(): Promise<void> {
    const problem = await this.problem();
    if (problem !== null) throw new DatabaseMismatchError(problem);
  }

  private async waitForMigrations(): Promise<void> {
    const { waitMs, onWait, log } = this.options;
    const deadlineMs = performance.now() + waitMs;
    let waitReason = '';
    for (;;) {
      const problem = await this.schemaProblem().catch(undefinedIfUnreachable);
      // null: the schema can be used; undefined: PostgreSQL is out of reach.
      if (problem === null || (problem === undefined && waitReason === '')) break;
      const reason = problem?.reason ?? waitReason;
      if (problem?.isTooNew || performance.now() >= deadlineMs) throw new StartError(reason);
      if (reason !== waitReason) {
        log.warn({ reason, atMostSeconds: waitMs / 1000 }, 'waiting for migrations');
        onWait(`waits for migrations: ${reason}`);
      }
      waitReason = reason;
      await sleep(POLL_MS);
    }
    if (waitReason !== '') log.info({ schema: this.version }, 'the database is migrated');
  }

  private async schemaProblem(): Promise<SchemaProblem | null> {
    if (this.isCompatible) return null;
    const { version } = this;
    const schema = await this.read();
    if (typeof schema === 'string') return pending(schema);
    const { newest, hasOurs, minMigration } = schema;
    if (newest === null) return pending(NO_SCHEMA);
    if (!hasOurs) {
      return pending(
        `the database is at migration ${newest}, older than this release, which needs ${version}`,
      );
    }
    this.isCompatible = !(minMigration > version);
    if (this.isCompatible) return null;
    const reason =
      `the database is for releases that know migration ${minMigration}, ` +
      `the newest one here is ${version}: use a newer release`;
    return { isTooNew: true, reason };
  }

  /** @returns why it cannot be read instead, when migrations will change that. */
  private async read(): Promise<Schema | string> {
    try {
      const { rows } = await this.options.pool.query<Schema>(READ_SCHEMA, [this.version]);
      return rows[0];
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string };
      if (code === UNDEFINED_TABLE) return NO_SCHEMA;
      if (!NOT_ADMITTED.has(code)) throw error;
      return `PostgreSQL refuses DATABASE_URL: ${message}`;
    }
  }

  private async keyProblem(): Promise<string | null> {
    if (this.isSameKey) return null;
    const { pool, key } = this.options;
    const hash = hashDomain(CHECKED_NAME, key);
    const store = 'UPDATE config_head SET domain_hash_check = $1 WHERE domain_hash_check IS NULL';
    await pool.query(store, [hash]);
    const compare = 'SELECT FROM config_head WHERE domain_hash_check = $1';
    const { rowCount } = await pool.query(compare, [hash]);
    this.isSameKey = rowCount === 1;
    return this.isSameKey ? null : KEY_MISMATCH;
  }
}

function pending(state: string): SchemaProblem {
  return { isTooNew: false, reason: `${state}: run node tools/dist/migrate.js` };
}

function undefinedIfUnreachable(error: unknown): undefined {
  if (!isDatabaseUnreachable(error)) throw error;
}
