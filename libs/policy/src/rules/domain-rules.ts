import type { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { PairTables } from '../memory/pair-tables.js';
import type { SlotRecords } from '../memory/slot-records.js';

/** The bits of the high half of a hash that belong to its low 53 bits (decisions §4). */
const HIGH_BITS = 0x1f_ffff;
/** The verdict is above them. */
const VERDICT_SHIFT = 21;
/** A mask has a bit for each of the first 31 suffixes, and one for all others. */
const LAST_BIT = 31;
const TWO_TO_32 = 4_294_967_296;

/**
 * The allow and deny rules of all profiles by domain hash. Each profile slot has its own table, so all that a query
 * needs is close together. In an entry, word a is the low half of the hash, word b its high 21 bits and the verdict.
 */
export class DomainRules {
  private readonly tables = new PairTables(HIGH_BITS);
  private total = 0;

  /**
   * @param records of slots, in which the references of the tables are kept.
   * @param reference offset of the reference in a record.
   */
  constructor(
    private readonly records: SlotRecords,
    private readonly reference: number,
  ) {}

  get size(): number {
    return this.total;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.tables.bytes;
  }

  /** The number of rules of a slot. Adds up the blocks of the table. */
  count(slot: number): number {
    return this.tables.count(this.records.chunkOf(slot), this.at(slot));
  }

  /** Which suffixes of a name the slot may have a rule for, as bits: see `CatalogueIndex.candidateMask`. */
  candidateMask(slot: number, { count, low }: SuffixHashes): number {
    const mask = this.tables.candidateMask(
      this.records.chunkOf(slot),
      this.at(slot),
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
    return verdictOf(this.tables.find(this.records.chunkOf(slot), this.at(slot), a, b));
  }

  /** @returns the verdict the rule had; 0: it is new. */
  set(slot: number, domainHash: number, verdict: RuleVerdict): RuleVerdict | 0 {
    const b = highHalf(domainHash) | (verdict << VERDICT_SHIFT);
    const words = this.records.chunkOf(slot);
    const previous = this.tables.set(words, this.at(slot), domainHash | 0, b);
    if (previous === 0) this.total++;
    return verdictOf(previous);
  }

  /** @returns the verdict the rule had; 0: there was none. */
  delete(slot: number, domainHash: number): RuleVerdict | 0 {
    const words = this.records.chunkOf(slot);
    const b = highHalf(domainHash);
    const previous = this.tables.delete(words, this.at(slot), domainHash | 0, b);
    if (previous !== 0) this.total--;
    return verdictOf(previous);
  }

  private at(slot: number): number {
    return this.records.offsetOf(slot) + this.reference;
  }
}

function verdictOf(b: number): RuleVerdict | 0 {
  return (b >>> VERDICT_SHIFT) as RuleVerdict | 0;
}

function highHalf(domainHash: number): number {
  return Math.floor(domainHash / TWO_TO_32);
}
