import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/exchange.js';

/** A connection that holds more than this is closed. */
const MAX_CONNECTION_BYTES = 512 * 1024;

/** The bytes that one connection makes this process hold. */
export class UnreadAccount {
  bytes = 0;

  constructor(
    readonly connection: { destroy(): void },
    private readonly all: UnreadBytes,
  ) {}

  /** Closes this connection, or the one with the most bytes, when they are too many. */
  set(bytes: number): void {
    this.all.set(this, bytes);
  }

  /** The connection is closed. */
  close(): void {
    this.all.remove(this);
  }
}

/**
 * Counts the bytes of answers that clients have not read, and of HTTP requests that are not over, over all connections
 * of all listeners: they are in the memory of this process. When they are too many, the connections with the most go
 * first.
 */
export class UnreadBytes {
  /** Of all connections. */
  total = 0;
  private readonly accounts = new Set<UnreadAccount>();

  constructor(
    private readonly maxBytes: number,
    private readonly counters: QueryCounters,
  ) {}

  open(connection: { destroy(): void }): UnreadAccount {
    const account = new UnreadAccount(connection, this);
    this.accounts.add(account);
    return account;
  }

  set(account: UnreadAccount, bytes: number): void {
    if (!this.accounts.has(account)) return;
    this.total += bytes - account.bytes;
    account.bytes = bytes;
    if (bytes > MAX_CONNECTION_BYTES) return this.cut(account, DropReason.unread);
    while (this.total > this.maxBytes) this.cut(this.largest(), DropReason.memory);
  }

  remove(account: UnreadAccount): void {
    if (this.accounts.delete(account)) this.total -= account.bytes;
  }

  private cut(account: UnreadAccount, reason: DropReason): void {
    this.counters.drop(reason);
    this.remove(account);
    account.connection.destroy();
  }

  private largest(): UnreadAccount {
    let largest: UnreadAccount | null = null;
    for (const account of this.accounts) {
      if (largest === null || account.bytes > largest.bytes) largest = account;
    }
    if (largest === null) throw new Error('unread bytes without a connection');
    return largest;
  }
}
