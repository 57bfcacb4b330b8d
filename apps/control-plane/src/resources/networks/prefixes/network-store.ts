import { Prisma } from '../../../generated/prisma/client.js';
import type { EntityTable } from '../../../platform/database/snapshot.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import { RowStore, RowsTable, WorkingRows } from '../../../revisions/working-tables.js';
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

  /** Some may come twice. */
  protected override async select(
    tx: Transaction,
    keys: readonly NetworkKey<A>[],
  ): Promise<NetworkRecord<A>[]> {
    const { family } = this;
    const [prefixes, addresses] = [[], []] as [string[], string[]];
    for (const key of keys) {
      if ('prefixLength' in key) prefixes.push(prefixText(family, key));
      else addresses.push(family.format(key.address));
    }
    const rows = await tx.$queryRaw<NetworkRow[]>`
      ${networksBy(family, 'address', addresses)} UNION ALL ${networksBy(family, 'network', prefixes)}`;
    return rows.map((row) => fromRow(family, row));
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
  return new RowStore<NetworkRecord<A>, NetworkKey<A>>({
    name: family.table,
    key: { address: ['inet', ({ address }) => family.format(address)] },
    rest: {
      prefix_length: ['smallint', ({ prefixLength }) => prefixLength],
      profile_id: ['integer', ({ profileId }) => profileId],
    },
    select: COLUMNS.sql,
  });
}

/** The masked prefix of a network: `192.0.2.0/24`. */
export function prefixText<A>(
  family: AddressFamily<A>,
  { address, prefixLength }: Prefix<A>,
): string {
  return `${family.format(family.mask(address, prefixLength))}/${prefixLength}`;
}
