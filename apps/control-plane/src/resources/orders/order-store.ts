import type { EntityKeys, Order } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { RowsTable, RowStore } from '../../revisions/working-tables.js';

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

/** RFC 3339, in UTC. */
export function toTimeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z');
}

export interface StoredOrder extends Order {
  readonly revision: number;
}

const STORE = new RowStore<StoredOrder, OrderKey>({
  name: 'domain_order',
  key: { id: ['integer', ({ id }) => id] },
  rest: {
    domain_hash: ['bigint', ({ domainHash }) => domainHash],
    authority: ['text', ({ authority }) => authority],
    reference: ['text', ({ reference }) => reference],
    until: ['timestamptz', ({ until }) => (until === null ? null : toTimeText(until))],
    revision: ['bigint', ({ revision }) => revision],
    // It is not known of the change that is made.
    in_force: ['jsonb', () => null],
  },
  select: `${COLUMNS}, revision::float8 AS revision`,
});

export function openOrders(): RowsTable<StoredOrder, OrderKey> {
  return new RowsTable(STORE);
}
