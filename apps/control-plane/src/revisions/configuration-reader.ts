import type { Pool } from 'pg';
import type { Prisma } from '../generated/prisma/client.js';
import type { Database } from '../platform/database/database.js';
import { headOf, Snapshot } from '../platform/database/snapshot.js';
import type { LockedHead } from './change-log.js';
import { Listing, WithRevision } from './with-revision.js';

/** A listing is broken off when its client is behind by more than this. */
const GRACE_MS = 30_000;
/** The same while another listing waits for a connection. */
const GRACE_IN_NEED_MS = 1_000;
const CHECK_MS = 250;

/**
 * The listings that are being sent. Each holds a connection of a small pool, and a snapshot of the database. One whose
 * client reads too slowly for its size is broken off, and earlier when another one waits for its connection.
 */
class OpenListings {
  private readonly listings = new Set<Listing<unknown>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: Pick<Pool, 'waitingCount'>,
    private readonly graceMs = GRACE_MS,
  ) {}

  add(listing: Listing<unknown>): void {
    this.listings.add(listing);
    this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
  }

  private check(): void {
    for (const listing of this.listings) if (!listing.isOpen) this.listings.delete(listing);
    if (this.listings.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    const nowMs = performance.now();
    const behind = Array.from(this.listings, (listing) => ({
      listing,
      behindMs: listing.pace.behindMs(nowMs),
    })).sort((a, b) => b.behindMs - a.behindMs);
    for (const [i, { listing, behindMs }] of behind.entries()) {
      const graceMs = i < this.pool.waitingCount ? GRACE_IN_NEED_MS : this.graceMs;
      if (behindMs > Math.min(graceMs, this.graceMs)) listing.breakOff();
    }
  }
}

/** The head that a read sees, without its revision. */
export type ConfigurationHead = Pick<LockedHead, 'lineage' | 'catalogueVersion'>;

interface HeadRow {
  readonly head_lineage: string;
  readonly head_revision: number;
  readonly head_catalogue_version: number | null;
  /** Null when the query found no row. */
  readonly is_row: true | null;
}

/** The columns of the query, without those of the head: stores make entities of them as they are. */
function foundOf({
  head_lineage: _lineage,
  head_revision: _revision,
  head_catalogue_version: _version,
  is_row: _isRow,
  ...found
}: HeadRow): never {
  return found as never;
}

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

  /** Runs a query. One statement reads head and rows, at one revision. @param convert gets the rows in any order. */
  async read<T>(
    query: Prisma.Sql,
    convert: (rows: never[], head: ConfigurationHead) => T,
  ): Promise<WithRevision<T>> {
    // One row for the head alone when the query finds nothing.
    const rows = await this.database.prisma.$queryRaw<HeadRow[]>`
      SELECT head.lineage AS head_lineage, head.revision::float8 AS head_revision,
             head.catalogue_version::float8 AS head_catalogue_version, found.*
      FROM config_head AS head
      LEFT JOIN (SELECT true AS is_row, query.* FROM (${query}) AS query) AS found ON true`;
    const first = headOf(rows);
    const head = { lineage: first.head_lineage, catalogueVersion: first.head_catalogue_version };
    const result = convert(first.is_row === null ? [] : rows.map(foundOf), head);
    return new WithRevision(result, first.head_revision);
  }

  /** Reads the rows of a query as a listing, all at one revision. The first page has been read when this resolves. */
  async list<T>(
    sql: string,
    convert: (row: never) => T,
    values: readonly unknown[] = [],
  ): Promise<WithRevision<Listing<T>>> {
    const snapshot = await Snapshot.open(this.database.listings);
    const items = convertPages(snapshot.pages(sql, values), snapshot, convert);
    const first = await items.next();
    const listing = new Listing(first, items);
    if (listing.isOpen) this.openListings.add(listing);
    return new WithRevision(listing, snapshot.head.revision);
  }
}

/** Closes the snapshot at its end, when it fails, and when the consumer stops reading. */
async function* convertPages<T>(
  pages: AsyncIterable<unknown[]>,
  snapshot: Snapshot,
  convert: (row: never) => T,
): AsyncGenerator<T, undefined> {
  try {
    for await (const page of pages) {
      for (const row of page) yield convert(row as never);
    }
  } finally {
    await snapshot.close();
  }
  return undefined;
}
