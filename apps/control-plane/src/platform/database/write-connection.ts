import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../../generated/prisma/client.js';
import { namedStatements } from './named-statements.js';
import type { PoolWaits } from './timed-pool.js';
import { withConnection } from './with-connection.js';

/**
 * The one connection on which a replica makes its changes, with Prisma on top of it. Statements that do not depend on
 * each other's results are sent together (`pipeline`). The connection is kept, so its statements stay prepared.
 */
export class WriteConnection {
  readonly pool: pg.Pool;
  private readonly prismaPool = new SingleConnectionPool();
  private readonly prisma = new PrismaClient({
    adapter: new PrismaPg(this.prismaPool, { statementNameGenerator: namedStatements() }),
  });

  constructor(settings: pg.PoolConfig, waits: PoolWaits) {
    const config = { ...settings, max: 1, idleTimeoutMillis: 0, pipeline: true };
    this.pool = waits.open('changes', config);
  }

  /**
   * Runs some work on the connection; one at a time. When it throws, the transaction that it left open is rolled back.
   * It must not return before all its queries have ended: a later query would run in the next transaction.
   */
  use<T>(work: (client: pg.PoolClient, tx: Prisma.TransactionClient) => Promise<T>): Promise<T> {
    return withConnection(this.pool, async (client) => {
      this.prismaPool.client = client;
      try {
        return await work(client, this.prisma);
      } finally {
        this.prismaPool.client = null;
      }
    });
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/** The pool that Prisma gets: it runs every query on the client that is set at the moment. */
class SingleConnectionPool extends pg.Pool {
  client: pg.PoolClient | null = null;

  override query = ((query: pg.QueryConfig) => {
    if (this.client === null) throw new Error('Prisma was used outside of a change');
    return this.client.query(query);
  }) as pg.Pool['query'];

  /** Prisma calls this for a transaction of its own. */
  override connect = (): never => {
    throw new Error('a change runs in one transaction, which has already begun');
  };
}
