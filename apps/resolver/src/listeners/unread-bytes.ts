import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/exchange.js';

/** A connection that holds more than this is closed. */
const MAX_CONNECTION_BYTES = 512 * 1024;

/** The bytes that one connection makes this process hold. */
export interface UnreadAccount {
  /** Of this connection. */
  readonly bytes: number;
  /** Closes this connection, or the one with the most bytes, when they are too many. */
  set(bytes: number): void;
  /** The connection is closed. */
  close(): void;
}

/**
 * Counts the bytes of answers that clients have not read, and of HTTP requests that are not over, over all connections
 * of all listeners: they are in the memory of this process. When they are too many, the connections with the most go
 * first.
 */
export class UnreadBytes {
  /** Of all connections. */
  total = 0;
  private readonly accounts = new Set<Account>();

  constructor(
    private readonly maxBytes: number,
    private readonly counters: QueryCounters,
  ) {}

  open(connection: { destroy(): void }): UnreadAccount {
    const account = new Account(connection, this);
    this.accounts.add(account);
    return account;
  }

  set(account: Account, bytes: number): void {
    if (!this.accounts.has(account)) return;
    this.total += bytes - account.bytes;
    account.bytes = bytes;
    if (bytes > MAX_CONNECTION_BYTES) return this.cut(account, DropReason.unread);
    while (this.total > this.maxBytes) this.cut(this.largest(), DropReason.memory);
  }

  remove(account: Account): void {
    if (this.accounts.delete(account)) this.total -= account.bytes;
  }

  private cut(account: Account, reason: DropReason): void {
    this.counters.drop(reason);
    this.remove(account);
    account.connection.destroy();
  }

  private largest(): Account {
    let largest: Account | null = null;
    for (const account of this.accounts) {
      if (largest === null || account.bytes > largest.bytes) largest = account;
    }
    if (largest === null) throw new Error('unread bytes without a connection');
    return largest;
  }
}

class Account implements UnreadAccount {
  bytes = 0;

  constructor(
    readonly connection: { destroy(): void },
    private readonly all: UnreadBytes,
  ) {}

  set(bytes: number): void {
    this.all.set(this, bytes);
  }

  close(): void {
    this.all.remove(this);
  }
}
