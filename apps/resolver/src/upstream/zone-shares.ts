import { type HashKey, SuffixHashes } from '@weir/dns-name';
import { HEADER_BYTES } from '@weir/dns-wire';
import type { Question } from '../query/question.js';

/** Suffixes of this many labels can be a zone. In `ip6.arpa`, ten labels are a /32. */
const MIN_LABELS = 2;
const MAX_LABELS = 10;
/** A child has this much of the share of its parent. */
const SHARE_OF_PARENT = 7 / 8;
/** An answer takes the place of this many questions. */
const ANSWER_CREDIT = 8;
/** In a second, this fraction of its share comes back to a zone. */
const LEAK_FRACTION = 64;

/** Number of slots that a suffix may be in. */
const WAYS = 4;
const DEFAULT_SLOTS = 65_536;
/** Words of a slot: two of the hash of the suffix, its count, and the second of that count; 0: the slot is free. */
const WORDS = 4;
const COUNT = 2;
const SECOND = 3;

export interface ZoneSharesOptions {
  /** Questions that a zone of two labels may have without answers. 0: no limit. */
  readonly maxQuestions: number;
  /** Unknown to clients. */
  readonly key: HashKey;
  /** A power of two, 4 or more. */
  readonly slots?: number;
}

/**
 * Keeps names in zones without an answer from taking all capacity. Where zones begin is unknown, so each suffix of a
 * name counts as a zone. Its count is that of the questions about names below it, in flight or without an answer,
 * less eight for each answer. A zone whose count has reached its share gets no more questions, but the count leaks
 * away, so some questions a second still go through. A zone in which one of eight is answered never suffers. A zone
 * with hardly any answers still cannot take the whole capacity. A parent has a larger share than its child, so a
 * child without answers uses up its own share first, and leaves the rest to its siblings.
 *
 * Fixed memory; allocates nothing. When there are too many zones at a time, those not asked for longest are forgotten.
 */
export class ZoneShares {
  private readonly slots: Int32Array;
  private readonly mask: number;
  private readonly hashes: SuffixHashes;
  private readonly hasLimit: boolean;
  /** Share of a zone, and how much of it comes back each second, by number of labels. */
  private readonly shares = new Int32Array(MAX_LABELS + 1);
  private readonly leaks = new Int32Array(MAX_LABELS + 1);

  constructor({ maxQuestions, key, slots = DEFAULT_SLOTS }: ZoneSharesOptions) {
    this.hasLimit = maxQuestions > 0;
    for (let labels = MIN_LABELS; labels <= MAX_LABELS; labels++) {
      const share = maxQuestions * SHARE_OF_PARENT ** (labels - MIN_LABELS);
      this.shares[labels] = Math.max(1, Math.floor(share));
      this.leaks[labels] = Math.ceil(this.shares[labels] / LEAK_FRACTION);
    }
    this.hashes = new SuffixHashes(key);
    this.slots = new Int32Array(slots * WORDS);
    this.mask = slots - WAYS;
  }

  /**
   * One more question, unless a zone above its name has its share already.
   * @param nowSeconds whole seconds above 0
   * @returns false when it has; then nothing is counted
   */
  take(question: Question, nowSeconds: number): boolean {
    if (!this.hasLimit) return true;
    const parents = this.hash(question) - 1;
    for (let labels = MIN_LABELS; labels <= Math.min(parents, MAX_LABELS); labels++) {
      const at = this.find(labels);
      if (at >= 0 && this.countAt(at, labels, nowSeconds) >= this.shares[labels]) return false;
    }
    for (let labels = MIN_LABELS; labels <= Math.min(parents, MAX_LABELS); labels++) {
      const at = this.findOrOpen(labels);
      this.slots[at + COUNT] = this.countAt(at, labels, nowSeconds) + 1;
      this.slots[at + SECOND] = nowSeconds;
    }
    return true;
  }

  /** An upstream has answered a question, which speaks for the zones of its name. */
  recordAnswer(question: Question): void {
    if (!this.hasLimit) return;
    const labelCount = this.hash(question);
    for (let labels = MIN_LABELS; labels <= Math.min(labelCount, MAX_LABELS); labels++) {
      const at = this.find(labels);
      if (at >= 0) this.slots[at + COUNT] = Math.max(0, this.slots[at + COUNT] - ANSWER_CREDIT);
    }
  }

  /** A question that was taken has ended without an answer, but that was not the fault of its zone. */
  release(question: Question): void {
    if (!this.hasLimit) return;
    const parents = this.hash(question) - 1;
    for (let labels = MIN_LABELS; labels <= Math.min(parents, MAX_LABELS); labels++) {
      const at = this.find(labels);
      if (at >= 0 && this.slots[at + COUNT] > 0) this.slots[at + COUNT]--;
    }
  }

  private hash({ bytes }: Question): number {
    return this.hashes.compute(bytes, HEADER_BYTES);
  }

  /** The count of the zone in that slot, by now. */
  private countAt(at: number, labels: number, nowSeconds: number): number {
    const { slots } = this;
    const leaked = (nowSeconds - slots[at + SECOND]) * this.leaks[labels];
    return Math.max(0, slots[at + COUNT] - leaked);
  }

  /** The slot of the suffix of that many labels, or −1. */
  private find(labels: number): number {
    const { slots } = this;
    const low = this.hashes.low[labels - 1] | 0;
    const high = this.hashes.high[labels - 1] | 0;
    const start = (low & this.mask) * WORDS;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (slots[at] === low && slots[at + 1] === high && slots[at + SECOND] > 0) return at;
    }
    return -1;
  }

  /** The slot of the suffix; a new one replaces the one that is free, or not asked for longest. */
  private findOrOpen(labels: number): number {
    const found = this.find(labels);
    if (found >= 0) return found;
    const { slots } = this;
    const low = this.hashes.low[labels - 1] | 0;
    const start = (low & this.mask) * WORDS;
    let oldest = start;
    for (let at = start + WORDS; at < start + WAYS * WORDS; at += WORDS) {
      if (slots[at + SECOND] < slots[oldest + SECOND]) oldest = at;
    }
    slots[oldest] = low;
    slots[oldest + 1] = this.hashes.high[labels - 1] | 0;
    slots[oldest + COUNT] = 0;
    return oldest;
  }
}
