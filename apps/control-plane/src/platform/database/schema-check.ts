import { type Logger, StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { isDatabaseUnreachable } from './database-errors.js';
import { SCHEMA_VERSION } from './schema-version.js';

const POLL_MS = 250;
const UNDEFINED_TABLE = '42P01';

/**
 * What migrations leave behind: `_prisma_migrations` is the log of the runner, and `schema_compatibility` says who
 * may work on it.
 */
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

type Judgement =
  { readonly kind: 'good' } | { readonly kind: 'old' | 'new'; readonly reason: string };

/** Whether the schema of the database is one that this release works on. */
export class SchemaCheck {
  private isGood = false;

  constructor(
    private readonly pool: Pick<Pool, 'query'>,
    private readonly log: Pick<Logger, 'info' | 'warn'>,
    private readonly version = SCHEMA_VERSION,
  ) {}

  /**
   * Waits for migrations that are pending, because in a cluster they start together with this process.
   * @param onWait told what is waited for.
   * @throws StartError when they are after `waitMs` still, or the schema is too new. A database that is out of reach
   * is asked again by `fault`.
   */
  async atStart(waitMs: number, onWait: (reason: string) => void = () => undefined): Promise<void> {
    const deadlineMs = performance.now() + waitMs;
    let waitsFor = '';
    for (;;) {
      const judgement = await this.judgeIfReached();
      if (judgement?.kind === 'good' || (judgement === null && waitsFor === '')) break;
      if (judgement?.kind === 'new') throw new StartError(judgement.reason);
      const reason = judgement?.reason ?? waitsFor;
      if (performance.now() >= deadlineMs) throw new StartError(reason);
      if (reason !== waitsFor) {
        this.log.warn({ reason, atMostSeconds: waitMs / 1000 }, 'waiting for migrations');
        onWait(`waits for migrations: ${reason}`);
      }
      waitsFor = reason;
      await sleep(POLL_MS);
    }
    if (waitsFor !== '') this.log.info({ schema: this.version }, 'the database is migrated');
  }

  /**
   * Why this process must not serve, or null; asks the database until its schema was good once.
   * @throws what the database says.
   */
  async fault(): Promise<string | null> {
    if (this.isGood) return null;
    const judgement = await this.judge();
    return judgement.kind === 'good' ? null : judgement.reason;
  }

  private async judgeIfReached(): Promise<Judgement | null> {
    try {
      return await this.judge();
    } catch (error) {
      if (!isDatabaseUnreachable(error)) throw error;
      return null;
    }
  }

  private async judge(): Promise<Judgement> {
    const { newest, hasOurs, minMigration } = await this.read();
    const { version } = this;
    if (!hasOurs) {
      const stands =
        newest === null
          ? 'the database has no schema yet'
          : `the database is at migration ${newest}, older than this release, which needs ${version}`;
      return { kind: 'old', reason: `${stands}: run node tools/dist/migrate.js` };
    }
    if (minMigration > version) {
      const reason = `the database is for releases that know migration ${minMigration}`;
      return {
        kind: 'new',
        reason: `${reason}, the newest one here is ${version}: use a newer release`,
      };
    }
    this.isGood = true;
    return { kind: 'good' };
  }

  private async read(): Promise<Schema> {
    try {
      const { rows } = await this.pool.query<Schema>(READ_SCHEMA, [this.version]);
      return rows[0];
    } catch (error) {
      if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
      return { newest: null, hasOurs: false, minMigration: '' };
    }
  }
}
