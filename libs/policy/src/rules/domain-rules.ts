import type { RuleVerdict } from '@weir/config-model';
import { PairTables } from '../memory/pair-tables.js';
import type { SlotRecords } from '../memory/slot-records.js';
import { Space } from '../memory/space.js';
import { HIGH_BITS, referenceOf, VERDICT_SHIFT, verdictOf } from './domain-rule-lookup.js';

const TWO_TO_32 = 4_294_967_296;

/**
 * The allow and deny rules of all profiles by domain hash. Each profile slot has its own table, so all that a query
 * needs is close together. In an entry, word a is the low half of the hash, word b its high 21 bits and the verdict.
 */
export class DomainRules {
  private readonly tables: PairTables;
  private total: number;

  /**
   * @param records of profiles, in which the references of the tables are kept.
   * @param from those of which the spaces were forked.
   */
  constructor(
    private readonly records: SlotRecords,
    space = new Space(),
    from?: DomainRules,
  ) {
    this.tables = new PairTables(HIGH_BITS, space, from?.tables);
    this.total = from?.total ?? 0;
  }

  get size(): number {
    return this.total;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.tables.bytes;
  }

  /** @returns the verdict the rule had; 0: it is new. */
  set(slot: number, domainHash: number, verdict: RuleVerdict): RuleVerdict | 0 {
    const b = highHalf(domainHash) | (verdict << VERDICT_SHIFT);
    const words = this.records.own(slot);
    const previous = this.tables.set(words, referenceOf(this.records, slot), domainHash | 0, b);
    if (previous === 0) this.total++;
    return verdictOf(previous);
  }

  /** @returns the verdict the rule had; 0: there was none. */
  delete(slot: number, domainHash: number): RuleVerdict | 0 {
    const words = this.records.own(slot);
    const b = highHalf(domainHash);
    const previous = this.tables.delete(words, referenceOf(this.records, slot), domainHash | 0, b);
    if (previous !== 0) this.total--;
    return verdictOf(previous);
  }
}

/** The high 21 bits of a hash. */
export function highHalf(domainHash: number): number {
  return Math.floor(domainHash / TWO_TO_32);
}
