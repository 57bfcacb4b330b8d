import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../../generated/prisma/client.js';
import { withConnection } from './with-connection.js';
import { namedStatements } from './named-statements.js';

/**
 * The one connection on which a replica makes its changes, and Prisma on it. Statements that do not wait for one
 * another's answers go out together (`pipeline`), and the connection is kept, so that a change finds its statements
 * prepared.
 */
export class WriteConnection {
  readonly pool: pg.Pool;
  private readonly lent = new LentConnection();
  private readonly prisma = new PrismaClient({
    adapter: new PrismaPg(this.lent, { statementNameGenerator: namedStatements() }),
  });

  constructor(settings: pg.PoolConfig) {
    this.pool = new pg.Pool({ ...settings, max: 1, idleTimeoutMillis: 0, pipeline: true });
  }

  /**
   * Lends the connection to some work, and Prisma on it; one work at a time. When it throws, the transaction that it
   * left open is undone. It must not end before all that it asked is answered: what came later would be another work's.
   */
  use<T>(work: (client: pg.PoolClient, tx: Prisma.TransactionClient) => Promise<T>): Promise<T> {
    return withConnection(this.pool, async (client) => {
      this.lent.client = client;
      try {
        return await work(client, this.prisma);
      } finally {
        this.lent.client = null;
      }
    });
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/** What Prisma takes for its pool: whatever it is asked is asked of the connection that is lent. */
class LentConnection extends pg.Pool {
  client: pg.PoolClient | null = null;

  override query = ((query: pg.QueryConfig) => {
    if (this.client === null) throw new Error('Prisma was asked outside of a change');
    return this.client.query(query);
  }) as pg.Pool['query'];

  /** For a transaction of Prisma's own. */
  override connect = (): never => {
    throw new Error('a change is one transaction, which has begun already');
  };
}
