import type { RuleVerdict } from '@weir/config-model';
import { REFERENCE_WORDS } from '../memory/pair-reference.js';
import { PairTables } from '../memory/pair-tables.js';
import type { SlotRecords } from '../memory/slot-records.js';
import { HIGH_BITS, VERDICT_SHIFT } from './domain-rule-lookup.js';
import { highHalf } from './domain-rules.js';
import {
  chainOf,
  HASH_HIGH,
  HASH_LOW,
  NEXT,
  NO_END,
  OWNER,
  TimedRuleLookup,
  type TimedRuleSpaces,
  TWO_TO_32,
  UNTIL_HIGH,
  UNTIL_LOW,
} from './timed-rule-lookup.js';

/** A rule that ends by itself: an order or a grant. */
export interface TimedRule {
  /** The id of an order, or the slot of the profile that has a grant. */
  readonly owner: number;
  readonly domainHash: number;
  readonly verdict: RuleVerdict;
  /** Unix seconds; null: it has no end. */
  readonly until: number | null;
}

/**
 * Rules that end by themselves, by domain hash. In the entry of a table word a is the low half of the hash (of a grant
 * mixed with the slot), word b the number of the first rule with it, plus 1. The rules of such a chain ascend by owner.
 */
export class TimedRules {
  /** Reads the rules. */
  readonly lookup: TimedRuleLookup;
  private readonly records: SlotRecords;
  private readonly heads: PairTables;
  /** Numbers of deleted rules, to be used again. */
  private readonly freeNumbers: number[];
  private recordCount: number;

  /** @param from those of which the spaces were forked. */
  constructor(
    private readonly spaces: TimedRuleSpaces,
    private readonly isOfProfiles: boolean,
    from?: TimedRules,
  ) {
    if (from === undefined) spaces.tables.add(REFERENCE_WORDS);
    this.heads = new PairTables(0, spaces.tables, from?.heads);
    this.lookup = new TimedRuleLookup(spaces);
    this.records = this.lookup.records;
    this.freeNumbers = [...(from?.freeNumbers ?? [])];
    this.recordCount = from?.recordCount ?? 0;
  }

  get size(): number {
    return this.recordCount - this.freeNumbers.length;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.heads.bytes + this.records.bytes;
  }

  /** The number of the rule of an owner for a name; −1: there is none. */
  find(owner: number, domainHash: number): number {
    const { records } = this;
    let rule = this.lookup.first(this.chainOf(owner, domainHash));
    while (rule >= 0 && !(records.read(rule, OWNER) === owner && this.hash(rule) === domainHash)) {
      rule = records.read(rule, NEXT) - 1;
    }
    return rule;
  }

  read(rule: number): TimedRule {
    const until = this.lookup.until(rule);
    return {
      owner: this.lookup.owner(rule),
      domainHash: this.hash(rule),
      verdict: this.lookup.verdict(rule),
      until: Number.isFinite(until) ? until : null,
    };
  }

  /** Adds a rule; its owner must not have one for the name. @returns its number. */
  add({ owner, domainHash, verdict, until }: TimedRule): number {
    const { records } = this;
    const rule = this.freeNumbers.pop() ?? this.recordCount++;
    records.reserve(rule);
    records.write(rule, OWNER, owner);
    records.write(rule, HASH_LOW, domainHash | 0);
    records.write(rule, HASH_HIGH, highHalf(domainHash) | (verdict << VERDICT_SHIFT));
    records.write(rule, UNTIL_LOW, (until ?? 0) | 0);
    records.write(rule, UNTIL_HIGH, until === null ? NO_END : Math.floor(until / TWO_TO_32));
    const chain = this.chainOf(owner, domainHash);
    let before = -1;
    let behind = this.lookup.first(chain);
    while (behind >= 0 && records.read(behind, OWNER) < owner) {
      before = behind;
      behind = records.read(behind, NEXT) - 1;
    }
    records.write(rule, NEXT, behind + 1);
    this.link(chain, before, rule);
    return rule;
  }

  remove(rule: number): void {
    const { records } = this;
    const chain = this.chainOf(this.lookup.owner(rule), this.hash(rule));
    let before = -1;
    for (let at = this.lookup.first(chain); at !== rule; at = records.read(at, NEXT) - 1)
      before = at;
    this.link(chain, before, records.read(rule, NEXT) - 1);
    this.freeNumbers.push(rule);
  }

  /** Makes a rule the next one of another, or the first one of the chain. */
  private link(chain: number, before: number, rule: number): void {
    const references = this.spaces.tables.own(0);
    if (before >= 0) this.records.write(before, NEXT, rule + 1);
    else if (rule >= 0) this.heads.set(references, 0, chain, rule + 1);
    else this.heads.delete(references, 0, chain, 0);
  }

  private hash(rule: number): number {
    const high = this.records.read(rule, HASH_HIGH) & HIGH_BITS;
    return high * TWO_TO_32 + (this.records.read(rule, HASH_LOW) >>> 0);
  }

  private chainOf(owner: number, domainHash: number): number {
    return chainOf(domainHash | 0, this.isOfProfiles ? owner : -1);
  }
}
