import type { DomainRule, RuleVerdict } from '@weir/config-model';
import { Column } from './column.js';
import { KeyIndex } from './row-index.js';

/** Instead of a hash: the rule repeats an earlier one. */
const REPEATED = -1;

/** Domain rules. A row is one domain; it belongs to an item of `bw_lists`. */
export class DraftDomainRules {
  /** By item. */
  readonly profileIds = Column.int32();
  private readonly verdicts = Column.int32();
  /** By item: its first row. */
  private readonly begins = Column.uint32();
  /** By row. */
  readonly hashes = Column.float64();
  private readonly items = Column.uint32();
  readonly keys = new KeyIndex([{ at: (row) => this.profileIdOf(row) }, this.hashes]);
  private repeated = 0;

  /** Call it for the domains of an item in order, before `addItem`. */
  addDomain(item: number, position: number, hash: number): void {
    if (position === 0) this.beginItem(item);
    this.hashes.push(hash);
    this.items.push(item);
  }

  addItem(item: number, profileId: number, verdict: RuleVerdict): void {
    this.beginItem(item);
    this.profileIds.push(profileId);
    this.verdicts.push(verdict);
  }

  private beginItem(item: number): void {
    // Also for earlier items without domains.
    while (this.begins.length <= item) this.begins.push(this.hashes.length);
  }

  itemOf(row: number): number {
    return this.items.at(row);
  }

  /** The position of a row's domain within its item. */
  positionOf(row: number): number {
    return row - this.begins.at(this.items.at(row));
  }

  profileIdOf(row: number): number {
    return this.profileIds.at(this.items.at(row));
  }

  verdictOf(row: number): RuleVerdict {
    return this.verdicts.at(this.items.at(row)) as RuleVerdict;
  }

  /** @param row that repeats no other. */
  at(row: number): DomainRule {
    return {
      profileId: this.profileIdOf(row),
      domainHash: this.hashes.at(row),
      verdict: this.verdictOf(row),
    };
  }

  markRepeated(row: number): void {
    this.hashes.set(row, REPEATED);
    this.repeated++;
  }

  /** The number of rows that repeat no other. */
  get distinctCount(): number {
    return this.hashes.length - this.repeated;
  }

  isRepeated(row: number): boolean {
    return this.hashes.at(row) === REPEATED;
  }
}
