import type { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { PairLookup } from '../memory/pair-lookup.js';
import { SlotRecords } from '../memory/slot-records.js';
import type { Space } from '../memory/space.js';
import { mix } from '../memory/word-map.js';
import type { ZoneClock } from '../schedules/zone-clock.js';
import { NO_TTL_CAP } from '../decision.js';
import { HIGH_BITS, verdictOf } from './domain-rules.js';

/** The words of a rule. */
const RULE_WORDS = 8;
/** The numbers of the rules below it in the tree, plus 1; 0: there is none. */
export const LEFT = 0;
export const RIGHT = 1;
/** The number of the rule that ends last of it and all below it. */
export const LATEST = 2;
/** The id of an order, or the slot of the profile that has a grant. */
export const OWNER = 3;
export const HASH_LOW = 4;
/** The high 21 bits of the hash, the verdict above them, and above that the high part of the end. */
export const HASH_HIGH = 5;
/** The end in Unix seconds. */
export const UNTIL_LOW = 6;
/** Of an order: the address of its texts. */
export const TEXTS = 7;

/** The high part of the end is a signed number. */
export const UNTIL_SHIFT = 23;
const VERDICT_MASK = 3;
/** A high part of the end that says that there is none. */
export const NO_END = -1;
export const TWO_TO_32 = 4_294_967_296;

/** Below this many levels all rules of a branch have the same hash. */
const HASH_BITS = 21;
/** Owners are not negative. */
const LAST_LEVEL = HASH_BITS + 30;

/** The memory of `TimedRules`. */
export interface TimedRuleSpaces {
  readonly tables: Space;
  readonly records: Space;
}

/** Searches `TimedRules`, in any thread. Allocates nothing. */
export class TimedRuleLookup {
  /** Only `TimedRules` writes them. */
  readonly records: SlotRecords;
  private readonly heads: PairLookup;
  private readonly chunks: readonly Int32Array[];

  constructor({ tables, records }: TimedRuleSpaces) {
    this.heads = new PairLookup(tables, 0);
    this.chunks = tables.chunks;
    this.records = new SlotRecords(RULE_WORDS, records);
  }

  /** Whether there is no rule at all. */
  get isEmpty(): boolean {
    // The shape of the reference of the one table: 0 when there is none (pair-lookup.ts).
    return this.chunks[0][1] === 0;
  }

  /** Which suffixes of a name may have an order, as bits: see `CatalogueIndex.candidateMask`. */
  candidateMask({ count, low }: SuffixHashes): number {
    return this.heads.candidateMask(this.chunks[0], 0, low, count);
  }

  /** The number of the rule at the top of a tree; −1: there is none. */
  top(tree: number): number {
    return this.heads.find(this.chunks[0], 0, tree, 0) - 1;
  }

  /**
   * The number of the rule for exactly the suffix with that index that has not ended; −1: there is none. Of several
   * orders that with the lowest id. Looks at no more than 52 rules, however many there are.
   * @param slot of the profile that has the grant; −1: an order.
   */
  find(slot: number, { high, low }: SuffixHashes, suffix: number, clock: ZoneClock): number {
    const { records } = this;
    const a = low[suffix] | 0;
    const b = high[suffix] & HIGH_BITS;
    let found = -1;
    let rule = this.top(treeOf(a, slot));
    for (let level = 0; rule >= 0; level++) {
      const owner = records.read(rule, OWNER);
      const isOfSuffix =
        records.read(rule, HASH_LOW) === a && (records.read(rule, HASH_HIGH) & HIGH_BITS) === b;
      const isOwn = slot < 0 ? found < 0 || owner < this.owner(found) : owner === slot;
      if (isOfSuffix && isOwn && this.secondsLeft(rule, clock) >= 0) found = rule;
      const side =
        level < HASH_BITS || slot >= 0 ? sideOf(b, slot, level) : this.lastingSide(rule, clock);
      rule = records.read(rule, side) - 1;
    }
    return found;
  }

  /** All owners on the left are lower than those on the right: only the left counts, unless all of it has ended. */
  private lastingSide(rule: number, clock: ZoneClock): typeof LEFT | typeof RIGHT {
    const left = this.records.read(rule, LEFT) - 1;
    return left >= 0 && this.secondsLeft(this.records.read(left, LATEST), clock) >= 0
      ? LEFT
      : RIGHT;
  }

  owner(rule: number): number {
    return this.records.read(rule, OWNER);
  }

  verdict(rule: number): RuleVerdict {
    return (verdictOf(this.records.read(rule, HASH_HIGH)) & VERDICT_MASK) as RuleVerdict;
  }

  /** Whole seconds to its end; `NO_TTL_CAP`: it has none, or a late one; −1: it has ended. */
  secondsLeft(rule: number, { nowMs }: ZoneClock): number {
    const leftMs = this.until(rule) * 1000 - nowMs;
    return leftMs <= 0 ? -1 : Math.min(NO_TTL_CAP, Math.floor(leftMs / 1000));
  }

  /** Unix seconds; Infinity: it has no end. */
  until(rule: number): number {
    const high = this.records.read(rule, HASH_HIGH) >> UNTIL_SHIFT;
    const low = this.records.read(rule, UNTIL_LOW);
    return high === NO_END ? Number.POSITIVE_INFINITY : high * TWO_TO_32 + (low >>> 0);
  }
}

/**
 * The tree that has the rules for a hash. Orders for the same name are in one tree; grants of different profiles hardly
 * ever are.
 * @param slot as for `TimedRuleLookup.find`.
 */
export function treeOf(hashLow: number, slot: number): number {
  return slot < 0 ? hashLow : hashLow ^ mix(slot);
}

/** Where a rule is below another one on that level of a tree: by the high bits of its hash, then by its owner. */
export function sideOf(hashHigh: number, owner: number, level: number): typeof LEFT | typeof RIGHT {
  const bit = level < HASH_BITS ? hashHigh >>> level : owner >>> (LAST_LEVEL - level);
  return (bit & 1) as typeof LEFT | typeof RIGHT;
}
