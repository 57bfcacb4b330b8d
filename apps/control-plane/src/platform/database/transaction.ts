import type { Prisma } from '../../generated/prisma/client.js';

/** Runs statements in a transaction: one of Prisma, or the one of a change (`WriteConnection`). */
export interface Transaction {
  $queryRaw<R = unknown>(
    query: TemplateStringsArray | Prisma.Sql,
    ...values: readonly unknown[]
  ): Promise<R>;
  /** @returns how many rows were written. */
  $executeRaw(
    query: TemplateStringsArray | Prisma.Sql,
    ...values: readonly unknown[]
  ): Promise<number>;
}
