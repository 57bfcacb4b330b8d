import { RateTable, type SubscriberKey } from '@weir/clients';
import type { Client } from '@weir/policy';

const SLOTS = 65_536;
/**
 * Of this many errors over the limit one is replaced by a hint: the "slip" of response rate limiting (RRL) in BIND and
 * NSD.
 */
const SLIP = 2;
/** A UDP answer is counted when it is more than this many times as large as its query. */
const MAX_AMPLIFICATION = 2;

export interface RateLimitsOptions {
  /** Queries per second that one subscriber gets answers to. 0: no limit. */
  readonly queriesPerSecond: number;
  /** Errors (FORMERR, NOTIMP, BADVERS, REFUSED) per second that one subscriber gets over UDP. 0: no limit. */
  readonly errorsPerSecond: number;
  /** TLS handshakes per second that one subscriber may begin. 0: no limit. */
  readonly handshakesPerSecond: number;
  /** Bytes per second that one subscriber gets in UDP answers beyond twice their query. 0: no limit. */
  readonly bytesPerSecond: number;
  readonly subscriber: SubscriberKey;
  /** Monotonic clock in whole seconds. */
  readonly nowSeconds: () => number;
  /** Of the limits of other threads, which then hold for all together. */
  readonly memory?: LimitsMemory;
  /** Where it counts, see `LimitCount`. */
  readonly counts?: Float64Array;
}

/** What threads share of their limits. */
export type LimitsMemory = Readonly<
  Record<'queries' | 'errors' | 'handshakes' | 'bytes', SharedArrayBuffer>
>;

export function createLimitsMemory(): LimitsMemory {
  const memory = (): SharedArrayBuffer => new RateTable(SLOTS).memory;
  return { queries: memory(), errors: memory(), handshakes: memory(), bytes: memory() };
}

/** What the limits of one thread, or of several, have done. */
export const LimitCount = {
  /** How often `allowsSlip` returned true. */
  slips: 0,
  /** How often `exceedsByteRate` returned true. */
  truncations: 1,
} as const;
export const LIMIT_COUNTS = Object.keys(LimitCount).length;

/** Rate limits for each subscriber. Allocates nothing. */
export class RateLimits {
  private readonly queries: RateTable;
  private readonly errors: RateTable;
  private readonly handshakes: RateTable;
  private readonly bytes: RateTable;
  private readonly counts: Float64Array;
  private untilSlip = SLIP;

  constructor(private readonly options: RateLimitsOptions) {
    this.counts = options.counts ?? new Float64Array(LIMIT_COUNTS);
    const { queries, errors, handshakes, bytes } = options.memory ?? createLimitsMemory();
    this.queries = new RateTable(SLOTS, queries);
    this.errors = new RateTable(SLOTS, errors);
    this.handshakes = new RateTable(SLOTS, handshakes);
    this.bytes = new RateTable(SLOTS, bytes);
  }

  /** Counts a query. @returns whether it is over the limit */
  exceedsQueryRate(client: Client): boolean {
    return this.exceeds(this.queries, client, this.options.queriesPerSecond);
  }

  /** Counts an error that is about to be sent. @returns whether it is over the limit */
  exceedsErrorRate(client: Client): boolean {
    return this.exceeds(this.errors, client, this.options.errorsPerSecond);
  }

  /** Counts a TLS handshake that is about to begin. @returns whether it is over the limit */
  exceedsHandshakeRate(client: Client): boolean {
    return this.exceeds(this.handshakes, client, this.options.handshakesPerSecond);
  }

  /**
   * Counts a UDP answer that is about to be sent, if it is larger than twice its query. Beyond the limit it is to be
   * truncated: its source address may be spoofed, and a real client comes back over TCP.
   */
  exceedsByteRate(client: Client, queryBytes: number, answerBytes: number): boolean {
    if (answerBytes <= queryBytes * MAX_AMPLIFICATION) return false;
    const isOver = this.exceeds(this.bytes, client, this.options.bytesPerSecond, answerBytes);
    if (isOver) this.counts[LimitCount.truncations]++;
    return isOver;
  }

  /** Whether to answer an error over the limit with a hint. Counts the hints. */
  allowsSlip(): boolean {
    if (--this.untilSlip > 0) return false;
    this.untilSlip = SLIP;
    this.counts[LimitCount.slips]++;
    return true;
  }

  private exceeds(table: RateTable, client: Client, limit: number, count = 1): boolean {
    if (limit === 0) return false;
    const { subscriber, nowSeconds } = this.options;
    subscriber.identify(client);
    return !table.allows(subscriber.first, subscriber.second, nowSeconds() + 1, limit, count);
  }
}
