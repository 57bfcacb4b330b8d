import { Response } from '@weir/dns-wire';
import { ForwardingCount } from '../metrics/forwarding-counts.js';
import { Exchange } from '../query/exchange.js';
import { TurnBudget } from '../query/turn-budget.js';
import type { InFlight } from './in-flight.js';
import { OVER_SHARE, Share, type SubscriberShares } from './subscriber-shares.js';

/** A copy of a response, for clients that get it after its packet is gone. Takes only the memory that it needs. */
class ResponseCopy {
  private readonly fields: Omit<Response, 'isTruncated' | 'ttlOffsets'>;
  private readonly ttlOffsets: Uint16Array;

  constructor({ ttlOffsets, ...fields }: Response) {
    this.fields = { ...fields, bytes: new Uint8Array(fields.bytes.subarray(0, fields.recordsEnd)) };
    this.ttlOffsets = ttlOffsets.slice(0, fields.ttlCount);
  }

  /** Makes `out` the response that was copied; it refers to the bytes of the copy. */
  restore(out: Response): void {
    Object.assign(out, this.fields);
    out.ttlOffsets.set(this.ttlOffsets);
  }
}

/** What a waiting client gets, once. */
export interface ClientEvents {
  /**
   * The response to the question of the exchange, or an empty one that says why there is none. Both are valid until
   * this returns.
   */
  onResponse(exchange: Exchange, response: Response): void;
  /** `onResponse` has thrown this. The other clients are answered all the same. */
  onDefect(error: unknown): void;
}

/** The clients of one question that are still to be answered. */
interface Unanswered {
  first: Exchange | null;
  readonly copy: ResponseCopy;
}

/**
 * The clients that wait for upstream answers. The first client of a question is in its entry; others that ask the same
 * are in a linked list behind it. When many wait, they are answered in pieces, so that the event loop stays free.
 */
export class WaitingClients {
  private joined = 0;
  private readonly free: Exchange[] = [];
  /** First come, first served. */
  private readonly unanswered: Unanswered[] = [];
  /** Clients of this turn, besides the first client of each question. */
  private readonly budget: TurnBudget;
  /** For the next turn. Undefined: no client has been answered in this one. */
  private immediate: NodeJS.Immediate | undefined;
  private readonly response = new Response();

  /**
   * @param capacity maximum number of clients that have joined questions of others
   * @param nowMs monotonic clock
   * @param counts by `ForwardingCount`
   */
  constructor(
    private readonly events: ClientEvents,
    private readonly capacity: number,
    private readonly shares: SubscriberShares,
    nowMs: () => number,
    private readonly counts: Float64Array,
  ) {
    this.budget = new TurnBudget(nowMs);
  }

  /** The client of the entry itself waits, unless the question is a refresh. */
  add(entry: InFlight): void {
    if (!entry.isRefresh) this.counts[ForwardingCount.waiting]++;
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
    this.counts[ForwardingCount.waiting]++;
    this.counts[ForwardingCount.coalesced]++;
    return true;
  }

  /** All clients that wait for the entry get the response: the first at once, the others now or in later turns. */
  answerAll(entry: InFlight, response: Response): void {
    if (!entry.isRefresh) this.answer(entry.exchange, response);
    const { firstWaiting } = entry;
    if (firstWaiting === null) return;
    entry.firstWaiting = null;
    if (this.immediate === undefined) this.startTurn();
    const first = this.answerSome(firstWaiting, response);
    if (first !== null) this.unanswered.push({ first, copy: new ResponseCopy(response) });
  }

  /** Whether some are to be answered in later turns. */
  get hasPieces(): boolean {
    return this.unanswered.length > 0;
  }

  /** Clients that wait get no answer any more. */
  close(): void {
    clearImmediate(this.immediate);
    this.unanswered.length = 0;
  }

  /** The next turn of the event loop. Sends of the turns before have ended. */
  private readonly onTurn = (): void => {
    this.immediate = undefined;
    if (this.unanswered.length === 0) return;
    this.startTurn();
    do {
      const [oldest] = this.unanswered;
      oldest.copy.restore(this.response);
      oldest.first = this.answerSome(oldest.first, this.response);
      if (oldest.first !== null) return;
      this.unanswered.shift();
    } while (this.unanswered.length > 0);
  };

  private startTurn(): void {
    this.budget.start();
    this.immediate = setImmediate(this.onTurn);
  }

  /** Answers as many as this turn has time for. @returns the first that is left, or null */
  private answerSome(first: Exchange | null, response: Response): Exchange | null {
    let waiting = first;
    while (waiting !== null && this.budget.take()) {
      const { next } = waiting;
      waiting.next = null;
      this.joined--;
      this.shares.release(waiting.account, Share.waiting);
      this.answer(waiting, response);
      this.free.push(waiting);
      waiting = next;
    }
    return waiting;
  }

  private answer(exchange: Exchange, response: Response): void {
    this.counts[ForwardingCount.waiting]--;
    try {
      this.events.onResponse(exchange, response);
    } catch (error) {
      this.events.onDefect(error);
    }
  }
}
