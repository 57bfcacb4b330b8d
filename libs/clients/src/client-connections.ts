import type { Client } from '@weir/policy';
import type { SubscriberKey } from './subscriber-key.js';

/** How many connections each subscriber has open, over all stream transports. */
export class ClientConnections {
  /** Of each subscriber that has any. */
  private readonly counts = new Map<string, number>();

  /** @param most connections that one subscriber may have */
  constructor(
    private readonly most: number,
    private readonly subscriber: SubscriberKey,
  ) {}

  /** Counts one more. @returns what to `leave` by; null, and nothing is counted, when it is one too many. */
  acquire(client: Client): string | null {
    const { subscriber } = this;
    subscriber.identify(client);
    const name = `${subscriber.first} ${subscriber.second}`;
    const others = this.counts.get(name) ?? 0;
    if (others >= this.most) return null;
    this.counts.set(name, others + 1);
    return name;
  }

  /** One that has entered is closed. */
  release(name: string): void {
    const left = (this.counts.get(name) ?? 1) - 1;
    if (left === 0) this.counts.delete(name);
    else this.counts.set(name, left);
  }
}
