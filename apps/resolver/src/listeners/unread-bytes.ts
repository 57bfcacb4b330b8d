import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/exchange.js';

/** A connection that holds more than this is closed. */
export const MAX_CONNECTION_BYTES = 512 * 1024;

interface Closable {
  destroy(): void;
}

/**
 * Counts the bytes of answers that clients have not read, and of HTTP requests that are not over, over all connections
 * of all listeners: they are in the memory of this process. When they are too many, the connections with the most go
 * first.
 */
export class UnreadBytes {
  private readonly held = new Map<Closable, number>();

  /** @param sum where the number of all connections is kept, so that other threads can read it */
  constructor(
    private readonly maxBytes: number,
    private readonly counters: QueryCounters,
    private readonly sum: Float64Array = new Float64Array(1),
  ) {}

  /** Of all connections. */
  get total(): number {
    return this.sum[0];
  }

  open(connection: Closable): void {
    this.held.set(connection, 0);
  }

  /**
   * What a connection makes this process hold now. Closes it, or those with the most bytes, when they are too many. Of
   * one that is closed nothing is counted.
   */
  set(connection: Closable, bytes: number): void {
    const before = this.held.get(connection);
    if (before === undefined) return;
    this.held.set(connection, bytes);
    this.sum[0] += bytes - before;
    if (bytes > MAX_CONNECTION_BYTES) return this.cut(connection, DropReason.unread);
    while (this.total > this.maxBytes) this.cut(this.largest(), DropReason.memory);
  }

  /** The connection is closed. */
  close(connection: Closable): void {
    this.sum[0] -= this.held.get(connection) ?? 0;
    this.held.delete(connection);
  }

  private cut(connection: Closable, reason: DropReason): void {
    this.counters.drop(reason);
    this.close(connection);
    connection.destroy();
  }

  private largest(): Closable {
    let [largest, most] = [null as Closable | null, -1];
    for (const [connection, bytes] of this.held) {
      if (bytes > most) [largest, most] = [connection, bytes];
    }
    if (largest === null) throw new Error('unread bytes without a connection');
    return largest;
  }
}
