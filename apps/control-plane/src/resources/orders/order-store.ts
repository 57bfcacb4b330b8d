import type { EntityKeys, Order } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { RowsTable, type RowStore } from '../../revisions/working-tables.js';

type OrderKey = EntityKeys['order'];

/** What the resolvers acknowledged of a change of an order. */
export interface InForce {
  readonly revision: number;
  /** How many resolvers had it in force, of how many that may have been answering. */
  readonly k: number;
  readonly m: number;
  /** When that was known: RFC 3339, UTC. */
  readonly at: string;
}

/** An order, with what is known of its last change. Null: nothing. */
export interface OrderState extends Order {
  readonly inForce: InForce | null;
}

const COLUMNS = `
  id, domain_hash::float8 AS "domainHash", authority, reference, extract(epoch FROM until)::float8 AS until`;
const STATE_COLUMNS = `${COLUMNS}, in_force AS "inForce"`;

export const ORDERS: EntityTable<'order'> = {
  kind: 'order',
  sql: `SELECT ${COLUMNS} FROM domain_order ORDER BY id`,
  toEntity: (row) => row,
};

/** Reads orders by id, each as an `OrderState`. `filterValues` of order.dto.ts gives the values $1 to $4. */
export const FILTERED_ORDERS = `
  SELECT ${STATE_COLUMNS} FROM domain_order
  WHERE id > $1::integer
    AND strpos(lower(concat_ws(' ', id, authority, reference)), lower($2::text)) > 0
    AND $3::text IN ('', CASE
      WHEN until <= now() THEN 'ended'
      WHEN (in_force ->> 'm')::integer > 0 AND in_force -> 'k' = in_force -> 'm' THEN 'in_force'
      ELSE 'pending'
    END)
  ORDER BY id LIMIT $4::integer`;

export function orderOf(id: number): Prisma.Sql {
  return Prisma.sql`SELECT ${Prisma.raw(STATE_COLUMNS)} FROM domain_order WHERE id = ${id}`;
}

/** Reads the orders for domains with these hashes, and any one order, each as an `Order`. */
export function ordersOf(hashes: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)} FROM domain_order WHERE domain_order.domain_hash = ANY (${hashes})
    UNION (SELECT ${Prisma.raw(COLUMNS)} FROM domain_order LIMIT 1)`;
}

/** Keeps what was acknowledged of a change, unless a later one was made meanwhile. Followers never see it. */
export const KEEP_IN_FORCE = `
  UPDATE domain_order SET in_force = $2::jsonb
  WHERE id = $1 AND revision = ($2::jsonb ->> 'revision')::bigint`;

export interface StoredOrder extends Order {
  readonly revision: number;
}

const STORE: RowStore<StoredOrder, OrderKey> = {
  textOf: ({ id }) => String(id),
  find: (tx, keys) => tx.$queryRaw`
    SELECT ${Prisma.raw(COLUMNS)}, revision::float8 AS revision
    FROM domain_order WHERE id = ANY (${idsOf(keys)}::integer[])`,
  // One text, because the driver takes long to escape the texts of a list.
  insert: (tx, orders, onConflict) => tx.$executeRaw`
    INSERT INTO domain_order (id, domain_hash, authority, reference, until, revision)
    SELECT id, "domainHash", authority, reference, to_timestamp(until), revision
    FROM jsonb_to_recordset(${JSON.stringify(orders)}::jsonb) AS submitted (
      id integer, "domainHash" bigint, authority text, reference text, until bigint, revision bigint)
    ${onConflict}`,
  replacing: Prisma.sql`
    ON CONFLICT (id) DO UPDATE SET
      domain_hash = EXCLUDED.domain_hash, authority = EXCLUDED.authority, reference = EXCLUDED.reference,
      until = EXCLUDED.until, revision = EXCLUDED.revision, in_force = NULL`,
  delete: (tx, keys) => tx.$executeRaw`
    DELETE FROM domain_order WHERE id = ANY (${idsOf(keys)}::integer[])`,
};

export function openOrders(): RowsTable<StoredOrder, OrderKey> {
  return new RowsTable(STORE);
}

function idsOf(keys: readonly OrderKey[]): number[] {
  return keys.map(({ id }) => id);
}
