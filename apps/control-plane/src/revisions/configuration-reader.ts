import { type Database, MAX_WAIT_MS } from '../platform/database/database.js';
import { Snapshot } from '../platform/database/snapshot.js';
import type { Transaction } from './change-attempt.js';
import { type LockedHead, toNumber } from './change-log.js';
import { Listing, Revised } from './revised.js';

/** What a read finds at the head besides the revision. */
export type ReadHead = Pick<LockedHead, 'lineage' | 'catalogueVersion'>;

/** Reads the configuration together with the revision that was read. */
export class ConfigurationReader {
  constructor(private readonly database: Database) {}

  /** Reads a little, all of it at one revision. */
  async read<T>(work: (tx: Transaction, head: ReadHead) => Promise<T>): Promise<Revised<T>> {
    return this.database.prisma.$transaction(
      async (tx) => {
        const head = await tx.configHead.findUniqueOrThrow({
          where: { id: 1 },
          select: { lineage: true, revision: true, catalogueVersion: true },
        });
        const catalogueVersion = toNumber(head.catalogueVersion);
        const found = { lineage: head.lineage, catalogueVersion };
        return new Revised(await work(tx, found), Number(head.revision));
      },
      { isolationLevel: 'RepeatableRead', maxWait: MAX_WAIT_MS },
    );
  }

  /**
   * Reads the rows of a query as a listing of any length, all of it at one revision. The first page is in when this
   * resolves.
   */
  async list<T>(sql: string, convert: (row: never) => T): Promise<Revised<Listing<T>>> {
    const snapshot = await Snapshot.open(this.database.listings);
    const items = convertPages(snapshot, sql, convert);
    const first = await items.next();
    return new Revised(new Listing(first, items), snapshot.head.revision);
  }
}

/** Closes the snapshot when it is through, has failed, or is returned from. */
async function* convertPages<T>(
  snapshot: Snapshot,
  sql: string,
  convert: (row: never) => T,
): AsyncGenerator<T, undefined> {
  try {
    for await (const page of snapshot.pages(sql)) {
      for (const row of page) yield convert(row as never);
    }
  } finally {
    await snapshot.close();
  }
  return undefined;
}
