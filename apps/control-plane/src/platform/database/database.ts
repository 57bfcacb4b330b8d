import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PrismaClient } from '../../generated/prisma/client.js';
import { namedStatements } from './named-statements.js';
import { boundSilence } from './silence.js';
import { replaceStale } from './stale-statements.js';
import { WriteConnection } from './write-connection.js';

/**
 * Connections that one replica holds at most, besides the one for changes. Whoever reads slowly is in the way of his
 * like alone.
 */
const MAX_CONNECTIONS = { brief: 5, listings: 4, snapshots: 4 };
/** A database that does not answer for this long counts as out of reach. */
const CONNECT_TIMEOUT_MS = 5_000;
/** A connection that rests is kept from being forgotten by what is between, a load balancer or a firewall. */
const KEEP_ALIVE_MS = 30_000;

/**
 * The longest statement of a single change takes milliseconds; a wait for another replica's change is a few seconds.
 */
const SILENCE_MS = 30_000;

/** Longest that the end of the connections is waited for. */
const GOODBYE_MS = 1_500;

/**
 * For the options of Prisma's transactions: how long one waits for a connection. Its own default is shorter than a busy
 * moment.
 */
export const MAX_WAIT_MS = 10_000;

/** The connections of a replica, and Prisma on top of them. */
export class Database {
  /** For everything but changes and what others read at their own pace. */
  readonly pool: pg.Pool;
  /** For lists of the management API. */
  readonly listings: pg.Pool;
  /** For followers that load the whole configuration. */
  readonly snapshots: pg.Pool;
  readonly writes: WriteConnection;
  readonly prisma: PrismaClient;

  /** @param silenceMs longest that a query waits for PostgreSQL without a sign of life. */
  constructor(
    url: string,
    log: Logger,
    readonly silenceMs = SILENCE_MS,
  ) {
    const settings: pg.PoolConfig = {
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: 'weir-control-plane',
    };
    this.pool = new pg.Pool({ ...settings, max: MAX_CONNECTIONS.brief });
    this.listings = new pg.Pool({ ...settings, max: MAX_CONNECTIONS.listings });
    this.snapshots = new pg.Pool({ ...settings, max: MAX_CONNECTIONS.snapshots });
    this.writes = new WriteConnection(settings);
    for (const pool of this.pools) {
      pool.on('connect', (client) => {
        boundSilence(client, silenceMs);
        // One that breaks while it is lent, even before whoever asked for it has it: the next query tells.
        client.on('error', () => undefined);
      });
      replaceStale(pool);
      // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
      pool.on('error', (error) => {
        log.warn({ reason: error.message }, 'a database connection broke');
      });
    }
    this.prisma = new PrismaClient({
      adapter: new PrismaPg(this.pool, { statementNameGenerator: namedStatements() }),
    });
  }

  /** Connections, those of them that are not in use, and requests that wait for one. */
  get usage(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const sum = (of: 'totalCount' | 'idleCount' | 'waitingCount'): number =>
      this.pools.reduce((all, pool) => all + pool[of], 0);
    return { total: sum('totalCount'), idle: sum('idleCount'), waiting: sum('waitingCount') };
  }

  /** Asks the database for next to nothing. @throws what it says when it cannot be used now. */
  async probe(): Promise<void> {
    await this.pool.query('SELECT FROM config_head');
  }

  /** Says goodbye, to a PostgreSQL that hears it; one that does not answer is not waited for. */
  async close(): Promise<void> {
    await Promise.race([this.end(), sleep(GOODBYE_MS, undefined, { ref: false })]);
  }

  private async end(): Promise<void> {
    await this.prisma.$disconnect();
    const ending = [this.pool, this.listings, this.snapshots].map((pool) => pool.end());
    await Promise.all([this.writes.close(), ...ending]);
  }

  private get pools(): readonly pg.Pool[] {
    return [this.pool, this.listings, this.snapshots, this.writes.pool];
  }
}
