import type { RuleVerdict } from '@weir/config-model';
import { REFERENCE_WORDS } from '../memory/pair-lookup.js';
import { PairTables } from '../memory/pair-tables.js';
import type { SlotRecords } from '../memory/slot-records.js';
import { HIGH_BITS, highHalf, VERDICT_SHIFT } from './domain-rules.js';
import {
  HASH_HIGH,
  HASH_LOW,
  LATEST,
  LEFT,
  NO_END,
  OWNER,
  RIGHT,
  sideOf,
  TimedRuleLookup,
  type TimedRuleSpaces,
  treeOf,
  TWO_TO_32,
  UNTIL_LOW,
  UNTIL_SHIFT,
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
 * mixed with the slot), word b the number of the rule at the top of a tree, plus 1.
 *
 * A tree is a digital search tree: a rule is below another one by a bit of its key on each level (`sideOf`), the high
 * bits of the hash and then the owner. So no rule is deeper than its key is long. Each knows which of all below it ends
 * last: a search leaves out what has ended.
 */
export class TimedRules {
  /** Reads the rules. */
  readonly lookup: TimedRuleLookup;
  private readonly records: SlotRecords;
  private readonly heads: PairTables;
  /** Numbers of deleted rules, to be used again. */
  private readonly freeNumbers: number[];
  private recordCount: number;

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

  /** Memory held by the table, in bytes. */
  get tableBytes(): number {
    return this.heads.bytes;
  }

  /** Memory held by the rules, in bytes. */
  get recordBytes(): number {
    return this.records.bytes;
  }

  /** The number of the rule of an owner for a name; −1: there is none. */
  find(owner: number, domainHash: number): number {
    const { records } = this;
    let rule = this.lookup.top(this.treeOf(owner, domainHash));
    for (let level = 0; rule >= 0; level++) {
      if (records.read(rule, OWNER) === owner && this.hash(rule) === domainHash) break;
      rule = records.read(rule, sideOf(highHalf(domainHash), owner, level)) - 1;
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
    const untilHigh = until === null ? NO_END : Math.floor(until / TWO_TO_32);
    const high = highHalf(domainHash);
    records.write(rule, HASH_HIGH, high | (verdict << VERDICT_SHIFT) | (untilHigh << UNTIL_SHIFT));
    records.write(rule, UNTIL_LOW, (until ?? 0) | 0);
    records.write(rule, LEFT, 0);
    records.write(rule, RIGHT, 0);
    records.write(rule, LATEST, rule);
    const above = this.pathTo(-1, owner, domainHash);
    this.link(above, rule, rule);
    for (const one of above) this.countIn(one, rule);
    return rule;
  }

  remove(rule: number): void {
    const { records } = this;
    const { owner, domainHash } = this.read(rule);
    const path = this.pathTo(rule, owner, domainHash);
    const at = path.length;
    // A rule without others below it takes the place: all below have the same bits down to there.
    let last = rule;
    for (let next = this.below(last); next >= 0; next = this.below(last)) {
      path.push(last);
      last = next;
    }
    this.link(path, last, -1);
    if (last !== rule) {
      records.write(last, LEFT, records.read(rule, LEFT));
      records.write(last, RIGHT, records.read(rule, RIGHT));
      this.link(path.slice(0, at), rule, last);
      path[at] = last;
    }
    for (const one of path.reverse()) {
      records.write(one, LATEST, one);
      for (const side of [LEFT, RIGHT]) {
        const next = records.read(one, side) - 1;
        if (next >= 0) this.countIn(one, records.read(next, LATEST));
      }
    }
    this.freeNumbers.push(rule);
  }

  /** The rules above one, or, with −1, above the place for one; the top first. */
  private pathTo(rule: number, owner: number, domainHash: number): number[] {
    const path: number[] = [];
    let at = this.lookup.top(this.treeOf(owner, domainHash));
    while (at !== rule && at >= 0) {
      const side = sideOf(highHalf(domainHash), owner, path.length);
      path.push(at);
      at = this.records.read(at, side) - 1;
    }
    return path;
  }

  /** One of the two rules directly below another one; −1: there is none. */
  private below(rule: number): number {
    const left = this.records.read(rule, LEFT);
    return (left === 0 ? this.records.read(rule, RIGHT) : left) - 1;
  }

  /**
   * Puts a rule, or with −1 none, in the place of a rule.
   * @param path the rules above that place
   */
  private link(path: readonly number[], rule: number, next: number): void {
    const { records } = this;
    const { owner, domainHash } = this.read(rule);
    const parent = path.at(-1);
    if (parent !== undefined) {
      const side = sideOf(highHalf(domainHash), owner, path.length - 1);
      records.write(parent, side, next + 1);
      return;
    }
    const references = this.spaces.tables.own(0);
    const tree = this.treeOf(owner, domainHash);
    if (next >= 0) this.heads.set(references, 0, tree, next + 1);
    else this.heads.delete(references, 0, tree, 0);
  }

  /** Remembers that the other rule, which is below, may end last. */
  private countIn(rule: number, other: number): void {
    const { records, lookup } = this;
    const latest = records.read(rule, LATEST);
    if (lookup.until(other) > lookup.until(latest)) records.write(rule, LATEST, other);
  }

  private hash(rule: number): number {
    const high = this.records.read(rule, HASH_HIGH) & HIGH_BITS;
    return high * TWO_TO_32 + (this.records.read(rule, HASH_LOW) >>> 0);
  }

  private treeOf(owner: number, domainHash: number): number {
    return treeOf(domainHash | 0, this.isOfProfiles ? owner : -1);
  }
}
