import type { NaptAssignment } from '@weir/config-model';
import type { Transaction } from '../../../revisions/configuration-writer.js';
import { RowsTable } from '../../../revisions/working-rows.js';
import type { WorkingTables } from '../../../revisions/working-tables.js';
import { WorkingProfiles } from '../../profiles/working-profiles.js';
import { NAPT_STORE, type NaptKey, naptText } from './napt-store.js';

/** More needed ranges of an address than this are read as one. */
const MOST_RANGES = 8;

/** The NAPT ranges that a group of changes needs: all that overlap one of the needed ranges, and maybe others. */
export class WorkingNapts extends RowsTable<NaptAssignment, NaptKey> {
  static readonly open = (tables: WorkingTables): WorkingNapts => {
    tables.of(WorkingProfiles.open);
    return new WorkingNapts(NAPT_STORE);
  };

  /** By address. */
  private readonly ranges = new Map<number, readonly NaptKey[]>();
  /** By address and key. */
  private readonly current = new Map<number, Map<string, NaptAssignment>>();

  override need(range: NaptKey): void {
    super.need(range);
    const ranges = [...(this.ranges.get(range.address) ?? []), range];
    // Each of them is compared with the stored ones of the address.
    this.ranges.set(range.address, ranges.length > MOST_RANGES ? [hull(ranges, range)] : ranges);
  }

  /** The known ranges of an address. */
  of(address: number): Iterable<NaptAssignment> {
    return this.current.get(address)?.values() ?? [];
  }

  override put(assignment: NaptAssignment): void {
    super.put(assignment);
    this.show(assignment);
  }

  override delete(key: NaptKey): void {
    super.delete(key);
    this.current.get(key.address)?.delete(naptText(key));
  }

  override async read(tx: Transaction): Promise<void> {
    if (this.ranges.size === 0) return;
    for (const assignment of await NAPT_STORE.find(tx, [...this.ranges.values()].flat())) {
      this.load(assignment);
      this.show(assignment);
    }
  }

  private show(assignment: NaptAssignment): void {
    const ranges = this.current.get(assignment.address) ?? new Map<string, NaptAssignment>();
    this.current.set(assignment.address, ranges.set(naptText(assignment), assignment));
  }
}

/** The least range of the address that holds all of these. */
function hull(ranges: readonly NaptKey[], { address }: NaptKey): NaptKey {
  const lowerPort = Math.min(...ranges.map((range) => range.lowerPort));
  const upperPort = Math.max(...ranges.map((range) => range.upperPort));
  return { address, lowerPort, upperPort };
}
