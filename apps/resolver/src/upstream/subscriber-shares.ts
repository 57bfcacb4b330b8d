import type { SubscriberKey } from '@weir/clients';
import type { Client } from '@weir/policy';

/** What each subscriber has a share of. */
export const Share = {
  /** Questions in flight to upstreams. */
  questions: 0,
  /** Clients that wait for a question of another client. */
  waiting: 1,
} as const;
export type Share = (typeof Share)[keyof typeof Share];

export interface ShareOptions {
  /** Identifies the subscriber of a client. */
  readonly subscriber: SubscriberKey;
  /** The most questions that one subscriber has in flight. */
  readonly maxQuestions: number;
  /** The most clients of one subscriber that wait for questions of others. */
  readonly maxWaiting: number;
}

/** What `take` returns when the subscriber has its whole share already. */
export const OVER_SHARE = -1;

const END = -1;
const WORDS = 5;
/** Word offsets in an account: the next account of the bucket, two words of the key, then a count for each `Share`. */
const NEXT = 0;
const FIRST = 1;
const SECOND = 2;
const COUNTS = 3;

/**
 * Counts what each subscriber has taken, in fixed memory. Unlike a `RateTable` it is exact: a subscriber has an account
 * while it has taken something. A subscriber keeps its account when the policy changes meanwhile. Allocates nothing.
 *
 * While at most half of all is taken, each subscriber may have its whole share. Above that, none gets more than what is
 * left, divided by the number of subscribers that have something, and each may have one. So nobody, however many join
 * in, leaves nothing for others.
 */
export class SubscriberShares {
  private readonly words: Int32Array;
  /** First account of each bucket, as a word offset, or `END`. */
  private readonly buckets: Int32Array;
  /** First free account. */
  private free = END;
  private readonly limits: readonly number[];
  /** What all subscribers have taken, and how many have taken something, for each `Share`. */
  private readonly taken = new Int32Array(2);
  private readonly takers = new Int32Array(2);

  /** @param capacities what can be taken by all subscribers together, for each `Share` */
  constructor(
    private readonly capacities: readonly [number, number],
    private readonly options: ShareOptions,
  ) {
    this.limits = [options.maxQuestions, options.maxWaiting];
    const capacity = capacities[0] + capacities[1];
    this.words = new Int32Array(capacity * WORDS);
    this.buckets = new Int32Array(2 ** Math.ceil(Math.log2(capacity))).fill(END);
    for (let i = capacity - 1; i >= 0; i--) this.putFree(i * WORDS);
  }

  /**
   * Takes one of the things for the subscriber of the client.
   * @returns the account for `release`, or `OVER_SHARE`; then nothing is taken
   */
  take(client: Client, share: Share): number {
    const { subscriber } = this.options;
    subscriber.identify(client);
    const { first, second } = subscriber;
    const found = this.find(first, second);
    const count = found === END ? 0 : this.words[found + COUNTS + share];
    if (count > 0 && count >= this.limitOf(share)) return OVER_SHARE;
    const account = found === END ? this.open(first, second) : found;
    this.words[account + COUNTS + share]++;
    this.taken[share]++;
    if (count === 0) this.takers[share]++;
    return account;
  }

  release(account: number, share: Share): void {
    const { words } = this;
    words[account + COUNTS + share]--;
    this.taken[share]--;
    if (words[account + COUNTS + share] === 0) this.takers[share]--;
    if (words[account + COUNTS] === 0 && words[account + COUNTS + 1] === 0) this.close(account);
  }

  /** For a subscriber that has something. */
  private limitOf(share: Share): number {
    const limit = this.limits[share];
    const left = this.capacities[share] - this.taken[share];
    if (left * 2 >= this.capacities[share]) return limit;
    return Math.min(limit, Math.floor(left / this.takers[share]));
  }

  private find(first: number, second: number): number {
    const { words } = this;
    let at = this.buckets[this.bucketOf(first)];
    while (at !== END && (words[at + FIRST] !== first || words[at + SECOND] !== second))
      at = words[at + NEXT];
    return at;
  }

  private open(first: number, second: number): number {
    const { words, buckets, free } = this;
    if (free === END) throw new RangeError('more is taken than there is');
    this.free = words[free + NEXT];
    const bucket = this.bucketOf(first);
    words[free + NEXT] = buckets[bucket];
    words[free + FIRST] = first;
    words[free + SECOND] = second;
    buckets[bucket] = free;
    return free;
  }

  private close(account: number): void {
    const { words, buckets } = this;
    const bucket = this.bucketOf(words[account + FIRST]);
    if (buckets[bucket] === account) {
      buckets[bucket] = words[account + NEXT];
    } else {
      let before = buckets[bucket];
      while (words[before + NEXT] !== account) before = words[before + NEXT];
      words[before + NEXT] = words[account + NEXT];
    }
    this.putFree(account);
  }

  private putFree(account: number): void {
    this.words[account + NEXT] = this.free;
    this.free = account;
  }

  private bucketOf(first: number): number {
    return first & (this.buckets.length - 1);
  }
}
