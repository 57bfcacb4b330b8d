import type { RuleVerdict } from '@weir/config-model';
import { Column } from './columns.js';
import { DraftTable, type TableDefinition } from './draft-table.js';

const DOMAIN_RULES: TableDefinition<'domainRule'> = {
  kind: 'domainRule',
  name: 'domain_rule',
  columns: { profile_id: 'integer', domain_hash: 'domainHash', verdict: 'smallint' },
  keyColumns: 2,
};

/** Instead of a hash: the rule repeats an earlier one. */
const REPEATED = -1;

/** Domain rules. A row is one domain; it belongs to an item of `bw_lists`. */
export class DraftDomainRules extends DraftTable<'domainRule'> {
  /** By item. */
  readonly itemProfiles = Column.int32();
  /** By item: its first row. */
  private readonly begins = Column.uint32();
  readonly profileIds = this.column('profile_id');
  private readonly hashes = this.column('domain_hash');
  readonly verdicts = this.column('verdict');
  private repeated = 0;

  constructor() {
    super(DOMAIN_RULES);
  }

  /** Call it for the domains of all items in order. */
  addDomain(item: number, hash: number): void {
    this.beginItem(item);
    this.hashes.push(hash);
  }

  /** Call it for all items in order, each after its domains. */
  addItem(item: number, profileId: number, verdict: RuleVerdict): void {
    this.beginItem(item);
    this.itemProfiles.push(profileId);
    const next = item + 1;
    const end = next < this.begins.length ? this.begins.at(next) : this.hashes.length;
    while (this.profileIds.length < end) {
      this.profileIds.push(profileId);
      this.verdicts.push(verdict);
    }
  }

  private beginItem(item: number): void {
    // Also for earlier items without domains.
    while (this.begins.length <= item) this.begins.push(this.hashes.length);
  }

  /** The item of a row, and the position of its domain within the item. */
  placeOf(row: number): { item: number; position: number } {
    let [item, end] = [0, this.begins.length];
    while (end - item > 1) {
      const middle = (item + end) >>> 1;
      if (this.begins.at(middle) <= row) item = middle;
      else end = middle;
    }
    return { item, position: row - this.begins.at(item) };
  }

  markRepeated(row: number): void {
    this.hashes.set(row, REPEATED);
    this.repeated++;
  }

  override get distinctCount(): number {
    return this.count - this.repeated;
  }

  override isRepeated(row: number): boolean {
    return this.hashes.at(row) === REPEATED;
  }
}
