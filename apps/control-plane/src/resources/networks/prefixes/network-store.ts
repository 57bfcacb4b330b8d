import { Prisma } from '../../../generated/prisma/client.js';
import type { EntityTable } from '../../../platform/database/snapshot.js';
import { type RowStore, RowsTable, WorkingRows } from '../../../revisions/working-tables.js';
import { type AddressFamily, IPV4, IPV6 } from '../addresses/addresses.js';

/** A network as it was submitted, with its host bits. The address is its key. */
export interface NetworkRecord<Address> {
  readonly address: Address;
  readonly prefixLength: number;
  readonly profileId: number;
}

export type NetworkRow = NetworkRecord<string>;

const COLUMNS = Prisma.raw(
  'host(address) AS address, prefix_length AS "prefixLength", profile_id AS "profileId"',
);

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
  return `SELECT ${COLUMNS.sql} FROM ${table} ORDER BY ${table}.address`;
}

export function fromRow<A>(family: AddressFamily<A>, row: NetworkRow): NetworkRecord<A> {
  // The database checks the family of every address.
  return { ...row, address: family.parse(row.address) as A };
}

/** The network as followers know it: with the masked prefix. */
export function masked<A>(family: AddressFamily<A>, record: NetworkRecord<A>): NetworkRecord<A> {
  return { ...record, address: family.mask(record.address, record.prefixLength) };
}

/** Reads the networks whose column has one of the values, as text. */
export function networksBy(
  { table }: Pick<AddressFamily<unknown>, 'table'>,
  column: 'address' | 'network',
  values: readonly string[],
): Prisma.Sql {
  const type = Prisma.raw(column === 'address' ? 'inet' : 'cidr');
  return Prisma.sql`
    SELECT ${COLUMNS} FROM ${Prisma.raw(table)}
    WHERE ${Prisma.raw(column)} = ANY (${values}::${type}[])`;
}

type Prefix<A> = Pick<NetworkRecord<A>, 'address' | 'prefixLength'>;
/** A network is needed by its address, or, with a length, by its masked prefix. */
type NetworkKey<A> = Pick<NetworkRecord<A>, 'address'> | Prefix<A>;

/** The networks of one family that a group of changes needs. Both the address and the masked prefix are unique. */
export class WorkingNetworks<A> extends RowsTable<NetworkRecord<A>, NetworkKey<A>> {
  private readonly byPrefix = new WorkingRows<NetworkRecord<A>>();

  constructor(private readonly family: AddressFamily<A>) {
    super(storeOf(family));
  }

  needPrefix(prefix: Prefix<A>): void {
    this.byPrefix.need(prefixText(this.family, prefix));
    this.needed.push(prefix);
  }

  /** The network with the same masked prefix and length; its host bits may differ. */
  findSamePrefix(record: NetworkRecord<A>): NetworkRecord<A> | null {
    return this.byPrefix.get(prefixText(this.family, record));
  }

  override put(record: NetworkRecord<A>): void {
    super.put(record);
    this.byPrefix.set(prefixText(this.family, record), record);
  }

  override delete(record: NetworkRecord<A>): void {
    super.delete(record);
    this.byPrefix.set(prefixText(this.family, record), null);
  }

  protected override load(record: NetworkRecord<A>): void {
    super.load(record);
    this.byPrefix.load(prefixText(this.family, record), record);
  }

  /** A prefix may pass from one network to another, so one whose prefix changes is deleted before it is written. */
  protected override isDeleted(before: NetworkRecord<A>, after: NetworkRecord<A> | null): boolean {
    return after === null || prefixText(this.family, before) !== prefixText(this.family, after);
  }
}

function storeOf<A>(family: AddressFamily<A>): RowStore<NetworkRecord<A>, NetworkKey<A>> {
  const table = Prisma.raw(family.table);
  const textOf = ({ address }: NetworkKey<A>): string => family.format(address);
  return {
    textOf,
    // Some may come twice.
    find: async (tx, keys) => {
      const prefixes = keys.filter((key) => 'prefixLength' in key);
      const addresses = keys.filter((key) => !('prefixLength' in key));
      const rows = await tx.$queryRaw<NetworkRow[]>`
        ${networksBy(family, 'address', addresses.map(textOf))} UNION ALL
        ${networksBy(
          family,
          'network',
          prefixes.map((prefix) => prefixText(family, prefix)),
        )}`;
      return rows.map((row) => fromRow(family, row));
    },
    insert: (tx, records, onConflict) => tx.$executeRaw`
      INSERT INTO ${table} (address, prefix_length, profile_id)
      SELECT * FROM unnest(
        ${records.map(textOf)}::inet[],
        ${records.map(({ prefixLength }) => prefixLength)}::integer[],
        ${records.map(({ profileId }) => profileId)}::integer[])
      ${onConflict}`,
    replacing: Prisma.sql`
      ON CONFLICT (address) DO UPDATE
      SET prefix_length = EXCLUDED.prefix_length, profile_id = EXCLUDED.profile_id`,
    delete: (tx, keys) => tx.$executeRaw`
      DELETE FROM ${table} WHERE address = ANY (${keys.map(textOf)}::inet[])`,
  };
}

/** The masked prefix of a network: `192.0.2.0/24`. */
export function prefixText<A>(
  family: AddressFamily<A>,
  { address, prefixLength }: Prefix<A>,
): string {
  return `${family.format(family.mask(address, prefixLength))}/${prefixLength}`;
}
