import { Prisma } from '../../../generated/prisma/client.js';
import type { EntityTable } from '../../../platform/database/snapshot.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import { WorkingRows, type WorkingTable } from '../../../revisions/working-tables.js';
import { type AddressFamily, IPV4, IPV6 } from '../addresses/addresses.js';

/** A network as it was submitted, with its host bits. The address is its key. */
export interface NetworkRecord<Address> {
  readonly address: Address;
  readonly prefixLength: number;
  readonly profileId: number;
}

export interface NetworkRow {
  readonly address: string;
  readonly prefix_length: number;
  readonly profile_id: number;
}

export const NETWORK_COLUMNS = 'host(address) AS address, prefix_length, profile_id';

export const IPV4_NETWORKS: EntityTable<'ipv4Network', NetworkRow> = {
  kind: 'ipv4Network',
  sql: listing(IPV4),
  toEntity: (row) => masked(IPV4, fromRow(IPV4, row)),
};

export const IPV6_NETWORKS: EntityTable<'ipv6Network', NetworkRow> = {
  kind: 'ipv6Network',
  sql: listing(IPV6),
  toEntity: (row) => masked(IPV6, fromRow(IPV6, row)),
};

/** Every network of a family, by address. */
export function listing({ table }: Pick<AddressFamily<unknown>, 'table'>): string {
  return `SELECT ${NETWORK_COLUMNS} FROM ${table} ORDER BY ${table}.address`;
}

export function fromRow<A>(family: AddressFamily<A>, row: NetworkRow): NetworkRecord<A> {
  return {
    // The database checks the family of every address.
    address: family.parse(row.address) as A,
    prefixLength: row.prefix_length,
    profileId: row.profile_id,
  };
}

/** The network as followers know it: with the masked prefix. */
export function masked<A>(
  family: AddressFamily<A>,
  { address, prefixLength, profileId }: NetworkRecord<A>,
): NetworkRecord<A> {
  return { address: family.mask(address, prefixLength), prefixLength, profileId };
}

/** The networks of one family in the database. */
export class NetworkStore<A> {
  private readonly table: Prisma.Sql;
  private readonly columns = Prisma.raw(NETWORK_COLUMNS);

  constructor(readonly family: AddressFamily<A>) {
    this.table = Prisma.raw(family.table);
  }

  /** The networks with one of the addresses, or with one of the masked prefixes, as text. Some may come twice. */
  async findAll(
    tx: Transaction,
    addresses: readonly string[],
    prefixes: readonly string[],
  ): Promise<NetworkRecord<A>[]> {
    const rows = await tx.$queryRaw<NetworkRow[]>`
      ${this.queryOf(addresses)}
      UNION ALL
      SELECT ${this.columns} FROM ${this.table} WHERE network = ANY (${prefixes}::cidr[])`;
    return rows.map((row) => fromRow(this.family, row));
  }

  /** Reads the networks with one of the addresses, as text. */
  queryOf(addresses: readonly string[]): Prisma.Sql {
    return Prisma.sql`
      SELECT ${this.columns} FROM ${this.table} WHERE address = ANY (${addresses}::inet[])`;
  }

  async deleteAll(tx: Transaction, addresses: readonly A[]): Promise<void> {
    if (addresses.length === 0) return;
    await tx.$executeRaw`
      DELETE FROM ${this.table}
      WHERE address = ANY (${addresses.map((address) => this.family.format(address))}::inet[])`;
  }

  /** @throws when there is one with the same address or prefix. */
  insertAll(tx: Transaction, records: readonly NetworkRecord<A>[]): Promise<void> {
    return this.write(tx, records, Prisma.empty);
  }

  /** Replaces the networks with the same addresses. */
  replaceAll(tx: Transaction, records: readonly NetworkRecord<A>[]): Promise<void> {
    const replace = Prisma.sql`
      ON CONFLICT (address) DO UPDATE
      SET prefix_length = EXCLUDED.prefix_length, profile_id = EXCLUDED.profile_id`;
    return this.write(tx, records, replace);
  }

  private async write(
    tx: Transaction,
    records: readonly NetworkRecord<A>[],
    onConflict: Prisma.Sql,
  ): Promise<void> {
    if (records.length === 0) return;
    await tx.$executeRaw`
      INSERT INTO ${this.table} (address, prefix_length, profile_id)
      SELECT * FROM unnest(
        ${records.map(({ address }) => this.family.format(address))}::inet[],
        ${records.map(({ prefixLength }) => prefixLength)}::integer[],
        ${records.map(({ profileId }) => profileId)}::integer[])
      ${onConflict}`;
  }
}

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
