import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from '@weir/ops';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.js';
import { boundSilence } from './silence.js';

/** Connections that one replica holds at most: writes take one at a time, the rest is for reads and the feed. */
const MAX_CONNECTIONS = 10;
/** A database that does not answer for this long counts as out of reach. */
const CONNECT_TIMEOUT_MS = 5_000;

/** The longest statement of a single change takes milliseconds; a wait for another replica's change is a few seconds. */
const SILENCE_MS = 30_000;

/** For the options of Prisma's transactions: how long one waits for a connection. Its own default is shorter than a busy moment. */
export const MAX_WAIT_MS = 10_000;

/** The one pool of a replica, and Prisma on top of it. */
export class Database {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;

  /** @param silenceMs longest that a query waits for PostgreSQL without a sign of life. */
  constructor(
    url: string,
    log: Logger,
    readonly silenceMs = SILENCE_MS,
  ) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'weir-control-plane',
    });
    this.pool.on('connect', (client) => boundSilence(client, silenceMs));
    // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
    this.pool.on('error', (error) => {
      log.warn({ reason: error.message }, 'a database connection broke');
    });
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.pool) });
  }

  /** Why the database cannot be asked now, or null when it can. */
  async fault(): Promise<string | null> {
    try {
      await this.pool.query('SELECT FROM config_head');
      return null;
    } catch (error) {
      return `PostgreSQL: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}
