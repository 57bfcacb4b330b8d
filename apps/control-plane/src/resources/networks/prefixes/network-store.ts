import { Prisma } from '../../../generated/prisma/client.js';
import type { EntityTable } from '../../../platform/database/entity-table.js';
import type { Transaction } from '../../../revisions/configuration-writer.js';
import { type AddressFamily, IPV4, IPV6 } from '../addresses/address-family.js';

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

const COLUMNS = 'host(address) AS address, prefix_length, profile_id';

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
  return `SELECT ${COLUMNS} FROM ${table} ORDER BY ${table}.address`;
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
  private readonly columns = Prisma.raw(COLUMNS);

  constructor(readonly family: AddressFamily<A>) {
    this.table = Prisma.raw(family.table);
  }

  async find(tx: Transaction, address: A): Promise<NetworkRecord<A> | null> {
    const [row] = await tx.$queryRaw<NetworkRow[]>`
      SELECT ${this.columns} FROM ${this.table} WHERE address = ${this.family.format(address)}::inet`;
    return row === undefined ? null : fromRow(this.family, row);
  }

  /** The network with the same masked prefix and length; its host bits may differ. */
  async findSamePrefix(
    tx: Transaction,
    record: NetworkRecord<A>,
  ): Promise<NetworkRecord<A> | null> {
    const { address, prefixLength } = masked(this.family, record);
    const [row] = await tx.$queryRaw<NetworkRow[]>`
      SELECT ${this.columns} FROM ${this.table}
      WHERE network = ${`${this.family.format(address)}/${prefixLength}`}::cidr`;
    return row === undefined ? null : fromRow(this.family, row);
  }

  async insert(tx: Transaction, record: NetworkRecord<A>): Promise<void> {
    await tx.$executeRaw`
      INSERT INTO ${this.table} (address, prefix_length, profile_id)
      VALUES (${this.family.format(record.address)}::inet, ${record.prefixLength}, ${record.profileId})`;
  }

  /** Replaces the record at `address`. The new record may have a different address. */
  async update(tx: Transaction, address: A, record: NetworkRecord<A>): Promise<void> {
    await tx.$executeRaw`
      UPDATE ${this.table}
      SET address = ${this.family.format(record.address)}::inet,
          prefix_length = ${record.prefixLength}, profile_id = ${record.profileId}
      WHERE address = ${this.family.format(address)}::inet`;
  }

  async delete(tx: Transaction, address: A): Promise<void> {
    await tx.$executeRaw`
      DELETE FROM ${this.table} WHERE address = ${this.family.format(address)}::inet`;
  }
}
