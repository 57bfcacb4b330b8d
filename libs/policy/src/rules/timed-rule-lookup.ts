import type { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { PairLookup } from '../memory/pair-lookup.js';
import { SlotRecords } from '../memory/slot-records.js';
import type { Space } from '../memory/space.js';
import { mix } from '../memory/word-map-lookup.js';
import type { ZoneClock } from '../schedules/zone-clock.js';
import { NO_TTL_CAP } from '../decision.js';
import { HIGH_BITS, LAST_BIT, verdictOf } from './domain-rule-lookup.js';

/** The words of a rule. */
export const RULE_WORDS = 8;
/** The number of the next rule of the chain, plus 1; 0: there is none. */
export const NEXT = 0;
/** The id of an order, or the slot of the profile that has a grant. */
export const OWNER = 1;
export const HASH_LOW = 2;
/** The high 21 bits of the hash, and the verdict above them. */
export const HASH_HIGH = 3;
/** The end in Unix seconds, as two words. */
export const UNTIL_LOW = 4;
/** `NO_END`: there is none. */
export const UNTIL_HIGH = 5;
/** Of an order: the address of its texts. */
export const TEXTS = 6;

export const NO_END = -1;
export const TWO_TO_32 = 4_294_967_296;

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
    return this.heads.isEmpty(this.chunks[0], 0);
  }

  /** Which suffixes of a name may have an order, as bits: see `CatalogueIndex.candidateMask`. */
  candidateMask({ count, low }: SuffixHashes): number {
    if (this.isEmpty) return 0;
    const mask = this.heads.candidateMask(this.chunks[0], 0, low, Math.min(count, LAST_BIT));
    return count > LAST_BIT ? mask | (1 << LAST_BIT) : mask;
  }

  /** The number of the first rule of a chain; −1: there is none. */
  first(chain: number): number {
    return this.heads.find(this.chunks[0], 0, chain, 0) - 1;
  }

  /**
   * The number of the rule for exactly the suffix with that index that has not ended; −1: there is none. Of several
   * orders that with the lowest id.
   * @param slot of the profile that has the grant; −1: an order.
   */
  find(slot: number, { high, low }: SuffixHashes, suffix: number, clock: ZoneClock): number {
    const { records } = this;
    const a = low[suffix] | 0;
    const b = high[suffix] & HIGH_BITS;
    for (let rule = this.first(chainOf(a, slot)); rule >= 0; rule = records.read(rule, NEXT) - 1) {
      const isOfSuffix =
        records.read(rule, HASH_LOW) === a && (records.read(rule, HASH_HIGH) & HIGH_BITS) === b;
      const isOwn = slot < 0 || records.read(rule, OWNER) === slot;
      if (isOfSuffix && isOwn && this.secondsLeft(rule, clock) >= 0) return rule;
    }
    return -1;
  }

  owner(rule: number): number {
    return this.records.read(rule, OWNER);
  }

  verdict(rule: number): RuleVerdict {
    return verdictOf(this.records.read(rule, HASH_HIGH)) as RuleVerdict;
  }

  /** Whole seconds to its end; `NO_TTL_CAP`: it has none, or a late one; −1: it has ended. */
  secondsLeft(rule: number, { nowMs }: ZoneClock): number {
    const high = this.records.read(rule, UNTIL_HIGH);
    if (high === NO_END) return NO_TTL_CAP;
    const leftMs = (high * TWO_TO_32 + (this.records.read(rule, UNTIL_LOW) >>> 0)) * 1000 - nowMs;
    return leftMs <= 0 ? -1 : Math.min(NO_TTL_CAP, Math.floor(leftMs / 1000));
  }

  /** Unix seconds; Infinity: it has no end. */
  until(rule: number): number {
    const high = this.records.read(rule, UNTIL_HIGH);
    const low = this.records.read(rule, UNTIL_LOW);
    return high === NO_END ? Number.POSITIVE_INFINITY : high * TWO_TO_32 + (low >>> 0);
  }
}

/**
 * The chain of the rules for a hash. Orders for the same name are in one chain; grants of different profiles hardly
 * ever are.
 * @param slot as for `TimedRuleLookup.find`.
 */
export function chainOf(hashLow: number, slot: number): number {
  return slot < 0 ? hashLow : hashLow ^ mix(slot);
}
