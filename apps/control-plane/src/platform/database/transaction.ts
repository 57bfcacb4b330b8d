import type { Prisma } from '../../generated/prisma/client.js';

/** Runs the statements of a change (`WriteConnection`), as a transaction of Prisma would. */
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
