import type { NaptAssignment } from '@weir/config-model';
import type { Transaction } from '../../../revisions/configuration-writer.js';
import { WorkingRows } from '../../../revisions/working-rows.js';
import type { WorkingTable, WorkingTables } from '../../../revisions/working-tables.js';
import { WorkingProfiles } from '../../profiles/working-profiles.js';
import {
  deleteAssignments,
  findOverlapping,
  insertAssignments,
  type NaptKey,
  naptText,
  replaceAssignments,
} from './napt-store.js';

/** More needed ranges of an address than this are read as one. */
const MOST_RANGES = 8;

/** The NAPT ranges that a group of changes needs: all that overlap one of the needed ranges, and maybe others. */
export class WorkingNapts implements WorkingTable {
  static readonly open = (tables: WorkingTables): WorkingNapts => {
    tables.of(WorkingProfiles.open);
    return new WorkingNapts();
  };

  private readonly rows = new WorkingRows<NaptAssignment>();
  /** By address. */
  private readonly needed = new Map<number, readonly NaptKey[]>();
  /** By address and key. */
  private readonly current = new Map<number, Map<string, NaptAssignment>>();

  need(range: NaptKey): void {
    this.rows.need(naptText(range));
    const ranges = [...(this.needed.get(range.address) ?? []), range];
    // Each of them is compared with the stored ones of the address.
    this.needed.set(range.address, ranges.length > MOST_RANGES ? [hull(ranges, range)] : ranges);
  }

  find(key: NaptKey): NaptAssignment | null {
    return this.rows.get(naptText(key));
  }

  /** The known ranges of an address. */
  of(address: number): Iterable<NaptAssignment> {
    return this.current.get(address)?.values() ?? [];
  }

  put(assignment: NaptAssignment): void {
    this.rows.set(naptText(assignment), assignment);
    this.show(assignment);
  }

  delete(key: NaptKey): void {
    this.rows.set(naptText(key), null);
    this.current.get(key.address)?.delete(naptText(key));
  }

  async read(tx: Transaction): Promise<void> {
    if (this.needed.size === 0) return;
    for (const assignment of await findOverlapping(tx, [...this.needed.values()].flat())) {
      this.rows.load(naptText(assignment), assignment);
      this.show(assignment);
    }
  }

  async write(tx: Transaction): Promise<void> {
    const { deleted, inserted, replaced } = this.rows.split();
    await deleteAssignments(tx, deleted);
    await insertAssignments(tx, inserted);
    await replaceAssignments(tx, replaced);
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
