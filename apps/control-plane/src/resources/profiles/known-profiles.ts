import type { Fault } from '../../http/validation/fault.js';
import type { Transaction } from '../../revisions/configuration-writer.js';
import type { WorkingTable } from '../../revisions/working-tables.js';
import { unknownProfile, unknownProfiles } from './profile-store.js';

/** Which profiles exist, for a group of changes that refer to profiles. */
export class KnownProfiles implements WorkingTable {
  static readonly open = (): KnownProfiles => new KnownProfiles();

  private readonly needed = new Set<number>();
  private unknown: ReadonlySet<number> = new Set();

  need(id: number): void {
    this.needed.add(id);
  }

  /** @param id must have been needed. */
  has(id: number): boolean {
    return !this.unknown.has(id);
  }

  /** A fault at `loc` when the profile does not exist; otherwise none. */
  faults(id: number, loc: readonly string[]): Fault[] {
    return this.has(id) ? [] : [unknownProfile(id, loc)];
  }

  async read(tx: Transaction): Promise<void> {
    this.unknown = await unknownProfiles(tx, [...this.needed]);
  }

  write(): Promise<void> {
    return Promise.resolve();
  }
}
