import { Digest, ENTITY_KINDS, type EntityKind, type Row, toRow } from '@weir/config-model';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { CATALOGUE } from '../catalogue/store/catalogue-store.js';
import type { EntityTable } from '../platform/database/snapshot.js';
import { BLOCK_PAGES } from '../resources/block-pages/block-page-store.js';
import { DOMAIN_RULES } from '../resources/domain-lists/domain-rule-store.js';
import { GRANTS } from '../resources/grants/grant-store.js';
import { NAPT_ASSIGNMENTS } from '../resources/networks/napt/napt-store.js';
import { IPV4_NETWORKS, IPV6_NETWORKS } from '../resources/networks/prefixes/network-store.js';
import { ORDERS } from '../resources/orders/order-store.js';
import { PROFILES } from '../resources/profiles/profile-store.js';
import { SCHEDULES } from '../resources/schedules/schedule-store.js';

/** The table of each entity kind. */
export const ENTITY_TABLES: { readonly [K in EntityKind]: EntityTable<K, never> } = {
  blockPage: BLOCK_PAGES,
  profile: PROFILES,
  domainRule: DOMAIN_RULES,
  ipv4Network: IPV4_NETWORKS,
  ipv6Network: IPV6_NETWORKS,
  naptAssignment: NAPT_ASSIGNMENTS,
  schedule: SCHEDULES,
  catalogue: CATALOGUE,
  order: ORDERS,
  grant: GRANTS,
};

/** A row that the `sql` of its table has read, as followers get it. */
export function toFeedRow(kind: EntityKind, row: unknown): Row {
  return toRow(kind, ENTITY_TABLES[kind].toEntity(row as never) as never);
}

/**
 * The digest of all rows, computed anew. It must be that of the head.
 * @param pages reads the rows of a query, some at a time, all queries at one revision.
 * @throws the reason of `signal` between two pages.
 */
export async function digestOfRows(
  pages: (sql: string) => AsyncIterable<readonly unknown[]>,
  signal?: AbortSignal,
): Promise<string> {
  const digest = new Digest();
  for (const kind of ENTITY_KINDS) {
    for await (const page of pages(ENTITY_TABLES[kind].sql)) {
      signal?.throwIfAborted();
      for (const row of page) digest.add(kind, toFeedRow(kind, row));
      await yieldToEventLoop();
    }
  }
  return digest.toString();
}
