import { type ClientAddress, MatchedBy } from '@weir/policy';
import { ConnectionCounts } from './connection-counts.js';
import type { SubscriberKey } from './subscriber-key.js';

/** One open connection, from the point of view of its listener. */
export interface Connection {
  /** Time of the last complete query or answer, on the clock of the listener. */
  readonly lastActiveMs: number;
  /** Whether the client waits for an answer. */
  readonly isWaiting: boolean;
  /** Reads no more; closes when everything that was read is answered. */
  drain(): void;
  destroy(): void;
}

/** Of this many connections, clients that are not served may have one. */
const STRANGER_FRACTION = 8;
/** IPv4 strangers are counted by /24. */
const STRANGER_BITS_IPV4 = 24;

export interface ConnectionPoolOptions {
  readonly maxConnections: number;
  /** Over all pools with the same `counts`. */
  readonly maxPerSubscriber: number;
  readonly subscriber: SubscriberKey;
  /** Default: of this pool alone. */
  readonly counts?: ConnectionCounts;
  /** Whether a client without a profile is served. */
  readonly isAllowed: (client: ClientAddress) => boolean;
  readonly onEvicted: () => void;
}

/** An open connection, for `release`. */
export interface PooledConnection {
  /** Of its subscriber; null: of a proxy, which has no limit. */
  readonly key: Pick<SubscriberKey, 'first' | 'second'> | null;
  readonly group: string;
  readonly groups: Groups;
  readonly close: () => void;
}

/**
 * Shares the open connections of all stream transports between clients. Each subscriber has a limit. Clients that are
 * not served, strangers, have a small part together, and are counted by their network: /24, and /48 of IPv6. When all
 * connections are in use, or all of the strangers, the subscriber or network with the most loses its oldest.
 */
export class ConnectionPool {
  private readonly served = new Groups();
  private readonly strangers = new Groups();
  /** Open connections of each subscriber or stranger. */
  private readonly counts: ConnectionCounts;
  private readonly maxStrangers: number;
  private unnamed = 0;

  constructor(private readonly options: ConnectionPoolOptions) {
    this.counts = options.counts ?? new ConnectionCounts();
    this.maxStrangers = Math.max(1, Math.floor(options.maxConnections / STRANGER_FRACTION));
  }

  get size(): number {
    return this.served.size + this.strangers.size;
  }

  /** Whether so many are open that idle ones should go earlier (RFC 7766 §6.2.3). */
  get isHalfFull(): boolean {
    return this.size * 2 > this.options.maxConnections;
  }

  /**
   * Counts one more connection. To make room for it, another one may be closed.
   * @param close closes it, when it must make room
   * @returns null (nothing is counted) when it must not be opened
   */
  acquire(client: ClientAddress, close: () => void): PooledConnection | null {
    const { subscriber: key, isAllowed, maxPerSubscriber } = this.options;
    key.identify(client);
    if (this.counts.of(key) >= maxPerSubscriber) return null;
    const isServed =
      key.matchedBy === MatchedBy.nothing
        ? isAllowed(client)
        : key.matchedBy !== MatchedBy.outsideRanges;
    const groups = isServed ? this.served : this.strangers;
    const { first, second } = key;
    const group = isServed ? `${first} ${second}` : networkOf(client);
    return this.open({ key: { first, second }, group, groups, close });
  }

  /** The same for a proxy that speaks for many clients: it has no limit of its own. */
  acquireProxy(close: () => void): PooledConnection | null {
    return this.open({ key: null, group: 'proxies', groups: this.served, close });
  }

  release(connection: PooledConnection): void {
    const { key, group, groups } = connection;
    if (groups.delete(group, connection) && key !== null) this.counts.add(key, -1);
  }

  /**
   * Counts a connection of a load balancer that has not named its client yet: as many as strangers may be so.
   * @returns the function to call when the client is known or the connection has closed; null: it must not be opened
   */
  acquireUnnamed(): (() => void) | null {
    if (this.unnamed >= this.maxStrangers) return null;
    this.unnamed++;
    let isOpen = true;
    return () => {
      if (isOpen) this.unnamed--;
      isOpen = false;
    };
  }

  private open(connection: PooledConnection): PooledConnection | null {
    const { key, group, groups } = connection;
    if (!this.hasRoom(group, groups)) return null;
    groups.add(group, connection);
    if (key !== null) this.counts.add(key, 1);
    return connection;
  }

  private hasRoom(group: string, groups: Groups): boolean {
    const isStranger = groups === this.strangers;
    if (isStranger && groups.size >= this.maxStrangers) return this.evict(groups, groups, group);
    if (this.size < this.options.maxConnections) return true;
    const { served, strangers } = this;
    const largest = isStranger || strangers.largest >= served.largest ? strangers : served;
    return this.evict(largest, groups, group);
  }

  /** Closes a connection of the largest group, unless the one that asks would then have as many. */
  private evict(from: Groups, groups: Groups, group: string): boolean {
    if (from.largest <= groups.sizeOf(group) + 1) return false;
    const victim = from.oldestOfLargest();
    this.release(victim);
    this.options.onEvicted();
    victim.close();
    return true;
  }
}

/** Connections by group, and which group has the most. */
class Groups {
  size = 0;
  largest = 0;
  private readonly byKey = new Map<string, Set<PooledConnection>>();
  /** At n: the groups with n connections. */
  private readonly bySize: Set<Set<PooledConnection>>[] = [];

  sizeOf(key: string): number {
    return this.byKey.get(key)?.size ?? 0;
  }

  add(key: string, connection: PooledConnection): void {
    let group = this.byKey.get(key);
    if (group === undefined) this.byKey.set(key, (group = new Set()));
    this.bySize[group.size]?.delete(group);
    group.add(connection);
    (this.bySize[group.size] ??= new Set()).add(group);
    this.size++;
    this.largest = Math.max(this.largest, group.size);
  }

  /** @returns false: it is not there any more */
  delete(key: string, connection: PooledConnection): boolean {
    const group = this.byKey.get(key);
    if (group?.has(connection) !== true) return false;
    this.bySize[group.size]?.delete(group);
    group.delete(connection);
    this.size--;
    if (group.size === 0) this.byKey.delete(key);
    else this.bySize[group.size]?.add(group);
    // The next smaller group has at most one less: the one that has just lost a connection.
    if (this.bySize[this.largest]?.size === 0) this.largest--;
    return true;
  }

  oldestOfLargest(): PooledConnection {
    const [group] = this.bySize[this.largest] ?? [];
    const [oldest] = group ?? [];
    if (oldest === undefined) throw new RangeError('no connection is open');
    return oldest;
  }
}

function networkOf({ family, words }: ClientAddress): string {
  if (family === 4) return `4 ${words[0] >>> (32 - STRANGER_BITS_IPV4)}`;
  return `6 ${words[0]} ${words[1] >>> 16}`;
}
