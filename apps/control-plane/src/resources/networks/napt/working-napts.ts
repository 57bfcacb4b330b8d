import type { NaptAssignment } from '@weir/config-model';
import type { Transaction } from '../../../revisions/configuration-writer.js';
import { forEachRow, Yielder } from '../../../platform/yielder.js';
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

/** The NAPT ranges that a group of changes needs: all that overlap one of the needed ranges. */
export class WorkingNapts implements WorkingTable {
  static readonly open = (tables: WorkingTables): WorkingNapts => {
    tables.of(WorkingProfiles.open);
    return new WorkingNapts();
  };

  private readonly rows = new WorkingRows<NaptAssignment>();
  private readonly needed: NaptKey[] = [];
  /** By address and key. */
  private readonly current = new Map<number, Map<string, NaptAssignment>>();

  need(range: NaptKey): void {
    this.rows.need(naptText(range));
    this.needed.push(range);
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
    if (this.needed.length === 0) return;
    const found = await findOverlapping(tx, this.needed);
    await forEachRow(new Yielder(), found.length, (i) => {
      this.rows.load(naptText(found[i]), found[i]);
      this.show(found[i]);
    });
  }

  async write(tx: Transaction): Promise<void> {
    const { deleted, inserted, replaced } = await this.rows.split();
    await deleteAssignments(tx, deleted);
    await insertAssignments(tx, inserted);
    await replaceAssignments(tx, replaced);
  }

  private show(assignment: NaptAssignment): void {
    const ranges = this.current.get(assignment.address) ?? new Map<string, NaptAssignment>();
    this.current.set(assignment.address, ranges.set(naptText(assignment), assignment));
  }
}
