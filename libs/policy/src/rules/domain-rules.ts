import type { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { WordTable } from '../memory/word-table.js';

/** Of the high half of a hash, what belongs to its low 53 bits (decisions §4). */
const HIGH_BITS = 0x1f_ffff;
/** Where the verdict stands, above them. */
const VERDICT_SHIFT = 21;
/** A mask has a bit for each of the first 31 suffixes, and one for all further. */
const LAST_BIT = 31;
const TWO_TO_32 = 4_294_967_296;

/**
 * Every profile's allow and deny rules, by profile slot and domain hash: a is the hash's low half, b its high 21 bits and the verdict,
 * c the slot.
 */
export class DomainRules {
  private readonly table = new WordTable(HIGH_BITS, -1);

  /** Of what was read ahead, so that the reading is not optimised away. */
  protected sink = 0;

  get size(): number {
    return this.table.size;
  }

  /** Memory held by rules, in bytes. */
  get bytes(): number {
    return this.table.bytes;
  }

  /** Which suffixes of a name the profile may have a rule for (as `CatalogueIndex.mayList`): no unset bit has one. */
  mayHave(slot: number, { count, low }: SuffixHashes): number {
    let mask = count > LAST_BIT ? 1 << LAST_BIT : 0;
    const end = Math.min(count, LAST_BIT);
    for (let i = 0; i < end; i++) mask |= this.table.mayHave(low[i] | 0, slot) << i;
    return mask;
  }

  /** Begins to read what `set` will need for `count` rules, given by slot and low half of the hash: memory answers many at once. */
  prefetch(slots: Int32Array, lows: Int32Array, count: number): void {
    let read = 0;
    for (let i = 0; i < count; i++) read ^= this.table.touch(lows[i], slots[i]);
    this.sink = read;
  }

  /** What the profile says of exactly the suffix with that index in `names`; 0: nothing. Allocates nothing. */
  findSuffix(slot: number, { high, low }: SuffixHashes, suffix: number): RuleVerdict | 0 {
    return this.find(slot, high[suffix] & HIGH_BITS, low[suffix] | 0);
  }

  /** @returns the verdict the rule had; 0: it is new. */
  set(slot: number, domainHash: number, verdict: RuleVerdict): RuleVerdict | 0 {
    const word = highHalf(domainHash) | (verdict << VERDICT_SHIFT);
    return (this.table.set(lowHalf(domainHash), word, slot) >>> VERDICT_SHIFT) as RuleVerdict | 0;
  }

  /** @returns the verdict the rule had; 0: there was none. */
  delete(slot: number, domainHash: number): RuleVerdict | 0 {
    const low = lowHalf(domainHash);
    const high = highHalf(domainHash);
    const previous = this.find(slot, high, low);
    if (previous === 0) return 0;
    this.table.delete(low, high, slot);
    return previous;
  }

  /** Both halves signed, so that they are small integers and not boxed. */
  private find(slot: number, high: number, low: number): RuleVerdict | 0 {
    return (this.table.findB(low, high, slot) >>> VERDICT_SHIFT) as RuleVerdict | 0;
  }
}

function lowHalf(domainHash: number): number {
  return domainHash | 0;
}

function highHalf(domainHash: number): number {
  return Math.floor(domainHash / TWO_TO_32);
}
