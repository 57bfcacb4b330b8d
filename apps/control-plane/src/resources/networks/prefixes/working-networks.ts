import type { Transaction } from '../../../revisions/configuration-writer.js';
import { WorkingRows } from '../../../revisions/working-rows.js';
import type { WorkingTable } from '../../../revisions/working-tables.js';
import type { AddressFamily } from '../addresses/addresses.js';
import type { NetworkRecord, NetworkStore } from './network-store.js';

/** The networks of one family that a group of changes needs. Both the address and the masked prefix are unique. */
export class WorkingNetworks<A> implements WorkingTable {
  private readonly byAddress = new WorkingRows<NetworkRecord<A>>();
  private readonly byPrefix = new WorkingRows<NetworkRecord<A>>();

  constructor(
    private readonly family: AddressFamily<A>,
    private readonly store: NetworkStore<A>,
  ) {}

  needAddress(address: A): void {
    this.byAddress.need(this.family.format(address));
  }

  needPrefix(record: Pick<NetworkRecord<A>, 'address' | 'prefixLength'>): void {
    this.byPrefix.need(this.prefixOf(record));
  }

  find(address: A): NetworkRecord<A> | null {
    return this.byAddress.get(this.family.format(address));
  }

  /** The network with the same masked prefix and length; its host bits may differ. */
  findSamePrefix(record: NetworkRecord<A>): NetworkRecord<A> | null {
    return this.byPrefix.get(this.prefixOf(record));
  }

  /** @param before null adds a network. @param after null deletes it. */
  replace(before: NetworkRecord<A> | null, after: NetworkRecord<A> | null): void {
    if (before !== null) {
      this.byAddress.set(this.family.format(before.address), null);
      this.byPrefix.set(this.prefixOf(before), null);
    }
    if (after !== null) {
      this.byAddress.set(this.family.format(after.address), after);
      this.byPrefix.set(this.prefixOf(after), after);
    }
  }

  async read(tx: Transaction): Promise<void> {
    const addresses = this.byAddress.neededKeys;
    const prefixes = this.byPrefix.neededKeys;
    if (addresses.length + prefixes.length === 0) return;
    for (const record of await this.store.findAll(tx, addresses, prefixes)) {
      this.byAddress.load(this.family.format(record.address), record);
      this.byPrefix.load(this.prefixOf(record), record);
    }
  }

  /**
   * A prefix may pass from one network to another. So a network whose prefix changes is deleted and added, and all
   * deletions come first.
   */
  async write(tx: Transaction): Promise<void> {
    const deleted: A[] = [];
    const inserted: NetworkRecord<A>[] = [];
    const replaced: NetworkRecord<A>[] = [];
    for (const { before, after } of this.byAddress.changes()) {
      const keepsPrefix = before && after && this.prefixOf(before) === this.prefixOf(after);
      if (before !== null && !keepsPrefix) deleted.push(before.address);
      if (after !== null) (keepsPrefix ? replaced : inserted).push(after);
    }
    await this.store.deleteAll(tx, deleted);
    await this.store.insertAll(tx, inserted);
    await this.store.replaceAll(tx, replaced);
  }

  private prefixOf(record: Pick<NetworkRecord<A>, 'address' | 'prefixLength'>): string {
    const { address, prefixLength } = record;
    return `${this.family.format(this.family.mask(address, prefixLength))}/${prefixLength}`;
  }
}
