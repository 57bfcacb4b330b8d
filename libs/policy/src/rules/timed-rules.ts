import type { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { NO_TTL_CAP } from '../decision.js';
import { PairLookup, REFERENCE_WORDS } from '../memory/pair-lookup.js';
import { PairTables } from '../memory/pair-tables.js';
import { SlotRecords } from '../memory/slot-records.js';
import type { Space } from '../memory/space.js';
import { mix } from '../memory/word-map.js';
import type { ZoneClock } from '../schedules/zone-clock.js';
import { HIGH_BITS, highHalf, VERDICT_SHIFT, verdictOf } from './domain-rules.js';

const RULE_WORDS = 8;
/** The numbers of the rules below it in the tree, plus 1; 0: there is none. */
const LEFT = 0;
const RIGHT = 1;
/** The number of the rule that ends last of it and all below it. */
const LATEST = 2;
/** The id of an order, or the slot of the profile that has a grant. */
export const OWNER = 3;
const HASH_LOW = 4;
/** The high 21 bits of the hash, the verdict above them, and above that the high part of the end. */
const HASH_HIGH = 5;
/** The low part of the end, in Unix seconds. */
const UNTIL_LOW = 6;
/** Of an order: the address of its texts. */
export const TEXTS = 7;

/** The high part of the end is a signed number. */
const UNTIL_SHIFT = 23;
const VERDICT_MASK = 3;
/** A high part of the end that says that there is none. */
const NO_END = -1;
const TWO_TO_32 = 4_294_967_296;

/** Below this many levels all rules of a branch have the same hash. */
const HASH_BITS = 21;
/** Owners are not negative. */
const LAST_LEVEL = HASH_BITS + 30;

interface TimedRuleSpaces {
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
function treeOf(hashLow: number, slot: number): number {
  return slot < 0 ? hashLow : hashLow ^ mix(slot);
}

/** Where a rule is below another one on that level of a tree: by the high bits of its hash, then by its owner. */
function sideOf(hashHigh: number, owner: number, level: number): typeof LEFT | typeof RIGHT {
  const bit = level < HASH_BITS ? hashHigh >>> level : owner >>> (LAST_LEVEL - level);
  return (bit & 1) as typeof LEFT | typeof RIGHT;
}

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

  get tableBytes(): number {
    return this.heads.bytes;
  }

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

  /** Puts a rule, or with −1 none, in the place of a rule. @param path the rules above that place */
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
