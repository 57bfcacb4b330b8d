import type { Response } from '@weir/dns-wire';
import { Exchange } from '../query/exchange.js';
import type { InFlight } from './in-flight.js';

/** What a client that waited gets, once. */
export interface ClientOutcome {
  /** The response to the exchange's question, or an empty one that says why there is none. Both are good until this returns. */
  onResponse(exchange: Exchange, response: Response): void;
}

/** The clients that wait for answers of upstreams: the first of each question in its entry, those that ask the same in a list behind it. */
export class WaitingClients {
  /** All who wait. */
  count = 0;
  /** Clients that shared a question already in flight, since the start. */
  coalesced = 0;
  private sharing = 0;
  private readonly free: Exchange[] = [];

  /** @param capacity most clients that share questions of others at once */
  constructor(
    private readonly outcome: ClientOutcome,
    private readonly capacity: number,
  ) {}

  /** The client of the entry's own exchange waits, unless the question was asked for nobody. */
  begin(entry: InFlight): void {
    if (!entry.isForNobody) this.count++;
  }

  /** One more waits for the entry's answer. @returns false when too many do. */
  share(entry: InFlight, exchange: Exchange): boolean {
    if (this.sharing >= this.capacity) return false;
    const kept = this.free.pop() ?? new Exchange();
    kept.keep(exchange);
    kept.next = entry.firstWaiting;
    entry.firstWaiting = kept;
    this.sharing++;
    this.count++;
    this.coalesced++;
    return true;
  }

  /** All who wait for the entry get the response. */
  tellAll(entry: InFlight, response: Response): void {
    if (!entry.isForNobody) this.tell(entry.exchange, response);
    let waiting = entry.firstWaiting;
    entry.firstWaiting = null;
    while (waiting !== null) {
      const { next } = waiting;
      waiting.next = null;
      this.sharing--;
      this.tell(waiting, response);
      this.free.push(waiting);
      waiting = next;
    }
  }

  private tell(exchange: Exchange, response: Response): void {
    this.count--;
    this.outcome.onResponse(exchange, response);
  }
}
