import type { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { PairLookup } from '../memory/pair-lookup.js';
import { PairTables } from '../memory/pair-tables.js';
import type { SlotRecords } from '../memory/slot-records.js';
import type { Space } from '../memory/space.js';
import { RULES } from '../profiles/profiles.js';

/** The bits of the high half of a hash that belong to its low 53 bits (decisions §4). */
export const HIGH_BITS = 0x1f_ffff;
/** The verdict is above them. */
export const VERDICT_SHIFT = 21;

/** Searches `DomainRules`, in any thread. */
export class DomainRuleLookup {
  private readonly tables: PairLookup;

  constructor(
    rules: Space,
    private readonly records: SlotRecords,
  ) {
    this.tables = new PairLookup(rules, HIGH_BITS);
  }

  /** Which suffixes of a name the slot may have a rule for, as bits: see `CatalogueIndex.candidateMask`. */
  candidateMask(slot: number, { count, low }: SuffixHashes): number {
    const { records } = this;
    return this.tables.candidateMask(records.chunkOf(slot), referenceOf(records, slot), low, count);
  }

  /** The verdict for exactly the suffix with that index in `names`; 0: there is no rule. Allocates nothing. */
  findSuffix(slot: number, { high, low }: SuffixHashes, suffix: number): RuleVerdict | 0 {
    // Both halves are signed, so that they are small integers and not boxed.
    const a = low[suffix] | 0;
    const b = high[suffix] & HIGH_BITS;
    const { records } = this;
    return verdictOf(this.tables.find(records.chunkOf(slot), referenceOf(records, slot), a, b));
  }
}

/** Where the reference of the table of a slot is, in the chunk of its record. */
function referenceOf(records: SlotRecords, slot: number): number {
  return records.offsetOf(slot) + RULES;
}

export function verdictOf(b: number): RuleVerdict | 0 {
  return (b >>> VERDICT_SHIFT) as RuleVerdict | 0;
}

const TWO_TO_32 = 4_294_967_296;

/**
 * The allow and deny rules of all profiles by domain hash. Each profile slot has its own table, so all that a query
 * needs is close together. In an entry, word a is the low half of the hash, word b its high 21 bits and the verdict.
 */
export class DomainRules {
  private readonly tables: PairTables;
  size: number;

  /** @param records of profiles, in which the references of the tables are kept. */
  constructor(
    private readonly records: SlotRecords,
    space: Space,
    from?: DomainRules,
  ) {
    this.tables = new PairTables(HIGH_BITS, space, from?.tables);
    this.size = from?.size ?? 0;
  }

  get bytes(): number {
    return this.tables.bytes;
  }

  /** @returns the verdict the rule had; 0: it is new. */
  set(slot: number, domainHash: number, verdict: RuleVerdict): RuleVerdict | 0 {
    const b = highHalf(domainHash) | (verdict << VERDICT_SHIFT);
    const words = this.records.own(slot);
    const previous = this.tables.set(words, referenceOf(this.records, slot), domainHash | 0, b);
    if (previous === 0) this.size++;
    return verdictOf(previous);
  }

  /** @returns the verdict the rule had; 0: there was none. */
  delete(slot: number, domainHash: number): RuleVerdict | 0 {
    const words = this.records.own(slot);
    const b = highHalf(domainHash);
    const previous = this.tables.delete(words, referenceOf(this.records, slot), domainHash | 0, b);
    if (previous !== 0) this.size--;
    return verdictOf(previous);
  }
}

/** The high 21 bits of a hash. */
export function highHalf(domainHash: number): number {
  return Math.floor(domainHash / TWO_TO_32);
}
