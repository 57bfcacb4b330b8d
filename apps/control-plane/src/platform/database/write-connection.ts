import type pg from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import { namedStatements } from './named-statements.js';
import type { PoolWaits } from './timed-pool.js';
import type { Transaction } from './transaction.js';
import { withConnection } from './with-connection.js';

/**
 * A connection on which a replica makes its changes. Statements that do not depend on each other's results are sent
 * together (`pipeline`). As long as the connection is open, its statements stay prepared.
 */
export class WriteConnection {
  readonly pool: pg.Pool;
  private readonly nameOf = namedStatements();

  constructor(settings: pg.PoolConfig, waits: PoolWaits) {
    const config = { ...settings, max: 1, idleTimeoutMillis: 0, pipeline: true };
    this.pool = waits.open('changes', config);
  }

  /**
   * Runs some work on the connection; one at a time. When it throws, the transaction that it left open is rolled back.
   * It must not return before all its queries have ended: a later query would run in the next transaction.
   */
  use<T>(work: (client: pg.PoolClient, tx: Transaction) => Promise<T>): Promise<T> {
    return withConnection(this.pool, (client) =>
      work(client, new ConnectionTransaction(client, this.nameOf)),
    );
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

/** Runs statements as Prisma does, but without Prisma. */
class ConnectionTransaction implements Transaction {
  constructor(
    private readonly client: pg.ClientBase,
    private readonly nameOf: ReturnType<typeof namedStatements>,
  ) {}

  async $queryRaw<R>(
    query: TemplateStringsArray | Prisma.Sql,
    ...values: readonly unknown[]
  ): Promise<R> {
    return (await this.run(query, values)).rows as R;
  }

  async $executeRaw(
    query: TemplateStringsArray | Prisma.Sql,
    ...values: readonly unknown[]
  ): Promise<number> {
    return (await this.run(query, values)).rowCount ?? 0;
  }

  private run(
    query: TemplateStringsArray | Prisma.Sql,
    values: readonly unknown[],
  ): Promise<pg.QueryResult> {
    const sql = query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
    const { text } = sql;
    return this.client.query({ name: this.nameOf({ sql: text }), text, values: sql.values });
  }
}
