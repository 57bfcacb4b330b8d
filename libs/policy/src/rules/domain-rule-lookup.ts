import type { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { PairLookup } from '../memory/pair-lookup.js';
import type { SlotRecords } from '../memory/slot-records.js';
import type { Space } from '../memory/space.js';
import { RULES } from '../profiles/profile-lookup.js';

/** The bits of the high half of a hash that belong to its low 53 bits (decisions §4). */
export const HIGH_BITS = 0x1f_ffff;
/** The verdict is above them. */
export const VERDICT_SHIFT = 21;
/** A mask has a bit for each of the first 31 suffixes, and one for all others. */
export const LAST_BIT = 31;

/** Searches `DomainRules`, in any thread. */
export class DomainRuleLookup {
  private readonly tables: PairLookup;

  /** @param records of profiles, which have the references of the tables. */
  constructor(
    rules: Space,
    private readonly records: SlotRecords,
  ) {
    this.tables = new PairLookup(rules, HIGH_BITS);
  }

  /** The number of rules of a slot. Adds up the blocks of the table. */
  count(slot: number): number {
    return this.tables.count(this.records.chunkOf(slot), referenceOf(this.records, slot));
  }

  /** Which suffixes of a name the slot may have a rule for, as bits: see `CatalogueIndex.candidateMask`. */
  candidateMask(slot: number, { count, low }: SuffixHashes): number {
    const mask = this.tables.candidateMask(
      this.records.chunkOf(slot),
      referenceOf(this.records, slot),
      low,
      Math.min(count, LAST_BIT),
    );
    return count > LAST_BIT ? mask | (1 << LAST_BIT) : mask;
  }

  /** The verdict for exactly the suffix with that index in `names`; 0: there is no rule. Allocates nothing. */
  findSuffix(slot: number, { high, low }: SuffixHashes, suffix: number): RuleVerdict | 0 {
    // Both halves are signed, so that they are small integers and not boxed.
    const a = low[suffix] | 0;
    const b = high[suffix] & HIGH_BITS;
    return verdictOf(
      this.tables.find(this.records.chunkOf(slot), referenceOf(this.records, slot), a, b),
    );
  }
}

/** Where the reference of the table of a slot is, in the chunk of its record. */
export function referenceOf(records: SlotRecords, slot: number): number {
  return records.offsetOf(slot) + RULES;
}

export function verdictOf(b: number): RuleVerdict | 0 {
  return (b >>> VERDICT_SHIFT) as RuleVerdict | 0;
}
