import type { Response } from '@weir/dns-wire';
import { Exchange } from '../query/exchange.js';
import type { InFlight } from './in-flight.js';
import { OVER_SHARE, Share, type SubscriberShares } from './subscriber-shares.js';

/** What a waiting client gets, once. */
export interface ClientEvents {
  /**
   * The response to the question of the exchange, or an empty one that says why there is none. Both are valid until
   * this returns.
   */
  onResponse(exchange: Exchange, response: Response): void;
}

/**
 * The clients that wait for upstream answers. The first client of a question is in its entry; others that ask the same
 * are in a linked list behind it.
 */
export class WaitingClients {
  /** All waiting clients. */
  count = 0;
  /** Clients that joined a question already in flight, since the start. */
  coalesced = 0;
  private joined = 0;
  private readonly free: Exchange[] = [];

  /** @param capacity maximum number of clients that have joined questions of others */
  constructor(
    private readonly events: ClientEvents,
    private readonly capacity: number,
    private readonly shares: SubscriberShares,
  ) {}

  /** The client of the entry itself waits, unless the question is a refresh. */
  add(entry: InFlight): void {
    if (!entry.isRefresh) this.count++;
  }

  /** Whether no more clients can join questions of others. */
  get isFull(): boolean {
    return this.joined >= this.capacity;
  }

  /** One more client waits for the entry, unless `isFull`. @returns false when too many of its subscriber do */
  join(entry: InFlight, exchange: Exchange): boolean {
    const account = this.shares.take(exchange.client, Share.waiting);
    if (account === OVER_SHARE) return false;
    const waiter = this.free.pop() ?? new Exchange();
    waiter.copyFrom(exchange);
    waiter.account = account;
    waiter.next = entry.firstWaiting;
    entry.firstWaiting = waiter;
    this.joined++;
    this.count++;
    this.coalesced++;
    return true;
  }

  /** All clients that wait for the entry get the response. */
  answerAll(entry: InFlight, response: Response): void {
    if (!entry.isRefresh) this.answer(entry.exchange, response);
    let waiting = entry.firstWaiting;
    entry.firstWaiting = null;
    while (waiting !== null) {
      const { next } = waiting;
      waiting.next = null;
      this.joined--;
      this.shares.release(waiting.account, Share.waiting);
      this.answer(waiting, response);
      this.free.push(waiting);
      waiting = next;
    }
  }

  private answer(exchange: Exchange, response: Response): void {
    this.count--;
    this.events.onResponse(exchange, response);
  }
}
