import type { ClientBase, Pool, PoolClient, QueryResult } from 'pg';
import { Prisma } from '../../generated/prisma/client.js';

/** Runs the statements of a change (`Database.write`), as a transaction of Prisma would. */
export class Transaction {
  constructor(
    private readonly client: ClientBase,
    private readonly nameOf: (query: { readonly sql: string }) => string,
  ) {}

  async $queryRaw<R = unknown>(
    query: TemplateStringsArray | Prisma.Sql,
    ...values: readonly unknown[]
  ): Promise<R> {
    return (await this.run(query, values)).rows as R;
  }

  /** @returns how many rows were written. */
  async $executeRaw(
    query: TemplateStringsArray | Prisma.Sql,
    ...values: readonly unknown[]
  ): Promise<number> {
    return (await this.run(query, values)).rowCount ?? 0;
  }

  private run(
    query: TemplateStringsArray | Prisma.Sql,
    values: readonly unknown[],
  ): Promise<QueryResult> {
    const sql = query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
    const { text } = sql;
    return this.client.query({ name: this.nameOf({ sql: text }), text, values: sql.values });
  }
}

/** Runs some work on a connection of the pool. When it throws, the transaction that it left open is rolled back. */
export async function withConnection<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    await rollBackAndRelease(client);
    throw error;
  }
}

/** Ends the transaction and releases the connection. The pool discards a broken one, and PostgreSQL rolls back. */
export async function rollBackAndRelease(client: PoolClient): Promise<void> {
  const broken = await client.query('ROLLBACK').then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : true),
  );
  client.release(broken);
}

/** Runs some work in one transaction on a connection of the pool. When it throws, everything is undone. */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withConnection(pool, async (client) => {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  });
}
