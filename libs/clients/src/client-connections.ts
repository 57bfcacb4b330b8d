import type { Client } from '@weir/policy';
import type { SubscriberKey } from './subscriber-key.js';

/** Limits the open connections of each subscriber, over all stream transports. */
export class ClientConnections {
  /** Only subscribers with open connections. */
  private readonly counts = new Map<string, number>();

  /** @param maxConnections limit for each subscriber */
  constructor(
    private readonly maxConnections: number,
    private readonly subscriber: SubscriberKey,
  ) {}

  /**
   * Counts one more connection. @returns the key for `release`, or null (nothing is counted) when the limit is reached
   */
  acquire(client: Client): string | null {
    const { subscriber } = this;
    subscriber.identify(client);
    const key = `${subscriber.first} ${subscriber.second}`;
    const open = this.counts.get(key) ?? 0;
    if (open >= this.maxConnections) return null;
    this.counts.set(key, open + 1);
    return key;
  }

  /** An acquired connection has closed. */
  release(key: string): void {
    const left = (this.counts.get(key) ?? 1) - 1;
    if (left === 0) this.counts.delete(key);
    else this.counts.set(key, left);
  }
}
