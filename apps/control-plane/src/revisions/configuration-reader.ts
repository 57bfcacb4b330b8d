import { type Database, MAX_WAIT_MS } from '../platform/database/database.js';
import { Snapshot } from '../platform/database/snapshot.js';
import type { Transaction } from '../platform/database/transaction.js';
import { type LockedHead, toNumber } from './change-log.js';
import { Listing } from './listing.js';
import { OpenListings } from './open-listings.js';
import { WithRevision } from './with-revision.js';

/** The head that a read sees, without its revision. */
export type ConfigurationHead = Pick<LockedHead, 'lineage' | 'catalogueVersion'>;

/** Reads the configuration together with the revision that was read. */
export class ConfigurationReader {
  private readonly openListings: OpenListings;

  /** @param listingGraceMs see `OpenListings`. */
  constructor(
    private readonly database: Database,
    listingGraceMs?: number,
  ) {
    this.openListings = new OpenListings(database.listings, listingGraceMs);
  }

  /** Runs a few queries, all at one revision. */
  async read<T>(
    work: (tx: Transaction, head: ConfigurationHead) => Promise<T>,
  ): Promise<WithRevision<T>> {
    return this.database.prisma.$transaction(
      async (tx) => {
        const head = await tx.configHead.findUniqueOrThrow({
          where: { id: 1 },
          select: { lineage: true, revision: true, catalogueVersion: true },
        });
        const catalogueVersion = toNumber(head.catalogueVersion);
        const found = { lineage: head.lineage, catalogueVersion };
        return new WithRevision(await work(tx, found), Number(head.revision));
      },
      { isolationLevel: 'RepeatableRead', maxWait: MAX_WAIT_MS },
    );
  }

  /**
   * Reads the rows of a query as a listing of any length, all at one revision. The first page has been read when this
   * resolves.
   */
  async list<T>(sql: string, convert: (row: never) => T): Promise<WithRevision<Listing<T>>> {
    const snapshot = await Snapshot.open(this.database.listings);
    const items = convertPages(snapshot, sql, convert);
    const first = await items.next();
    const listing = new Listing(first, items);
    if (listing.isOpen) this.openListings.add(listing);
    return new WithRevision(listing, snapshot.head.revision);
  }
}

/** Closes the snapshot at its end, when it fails, and when the consumer stops reading. */
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
