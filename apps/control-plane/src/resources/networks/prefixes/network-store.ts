import { Prisma } from '../../../generated/prisma/client.js';
import type { EntityTable } from '../../../platform/database/entity-table.js';
import type { Transaction } from '../../../revisions/configuration-writer.js';
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
