import type { Pool } from 'pg';
import type { Listing } from './listing.js';

/** A listing is broken off when its client is behind by more than this. */
const GRACE_MS = 30_000;
/** The same while another listing waits for a connection. */
const GRACE_IN_NEED_MS = 1_000;
const CHECK_MS = 250;

/**
 * The listings that are being sent. Each holds a connection of a small pool, and a snapshot of the database. One whose
 * client reads too slowly for its size is broken off, and earlier when another one waits for its connection.
 */
export class OpenListings {
  private readonly listings = new Set<Listing<unknown>>();
  private timer: NodeJS.Timeout | null = null;

  /** @param pool the connections of the listings. */
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
    if (this.listings.size === 0 && this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
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
