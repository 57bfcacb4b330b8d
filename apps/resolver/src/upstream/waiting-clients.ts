import type { Response } from '@weir/dns-wire';
import { Exchange } from '../query/exchange.js';
import type { InFlight } from './in-flight.js';

/** What a client that waited gets, once. */
export interface ClientEvents {
  /** The response to the exchange's question, or an empty one that says why there is none. Both are good until this returns. */
  onResponse(exchange: Exchange, response: Response): void;
}

/** The clients that wait for answers of upstreams: the first of each question in its entry, those that ask the same in a list behind it. */
export class WaitingClients {
  /** All who wait. */
  count = 0;
  /** Clients that shared a question already in flight, since the start. */
  coalesced = 0;
  private joined = 0;
  private readonly free: Exchange[] = [];

  /** @param capacity most clients that share questions of others at once */
  constructor(
    private readonly events: ClientEvents,
    private readonly capacity: number,
  ) {}

  /** The client of the entry's own exchange waits, unless the question was asked for nobody. */
  add(entry: InFlight): void {
    if (!entry.isRefresh) this.count++;
  }

  /** One more waits for the entry's answer. @returns false when too many do. */
  join(entry: InFlight, exchange: Exchange): boolean {
    if (this.joined >= this.capacity) return false;
    const waiter = this.free.pop() ?? new Exchange();
    waiter.copyFrom(exchange);
    waiter.next = entry.firstWaiting;
    entry.firstWaiting = waiter;
    this.joined++;
    this.count++;
    this.coalesced++;
    return true;
  }

  /** All who wait for the entry get the response. */
  answerAll(entry: InFlight, response: Response): void {
    if (!entry.isRefresh) this.answer(entry.exchange, response);
    let waiting = entry.firstWaiting;
    entry.firstWaiting = null;
    while (waiting !== null) {
      const { next } = waiting;
      waiting.next = null;
      this.joined--;
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
