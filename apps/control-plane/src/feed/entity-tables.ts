import { type EntityKind, type Row, toRow, Digest, ENTITY_KINDS } from '@weir/config-model';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { CATALOGUE } from '../catalogue/store/catalogue-store.js';
import type { EntityTable } from '../platform/database/entity-table.js';
import { BLOCK_PAGES } from '../resources/block-pages/block-page-store.js';
import { DOMAIN_RULES } from '../resources/domain-lists/domain-rule-store.js';
import { GRANTS } from '../resources/grants/grant-store.js';
import { NAPT_ASSIGNMENTS } from '../resources/networks/napt/napt-store.js';
import { IPV4_NETWORKS, IPV6_NETWORKS } from '../resources/networks/prefixes/network-store.js';
import { ORDERS } from '../resources/orders/order-store.js';
import { PROFILES } from '../resources/profiles/profile-store.js';
import { SCHEDULES } from '../resources/schedules/schedule-store.js';

/** How the rows of an entity kind are read for a snapshot. */
export interface SnapshotTable {
  readonly sql: string;
  toRow(databaseRow: unknown): Row;
}

/** The table of each entity kind. */
export const SNAPSHOT_TABLES: { readonly [K in EntityKind]: SnapshotTable } = {
  blockPage: snapshotTable(BLOCK_PAGES),
  profile: snapshotTable(PROFILES),
  domainRule: snapshotTable(DOMAIN_RULES),
  ipv4Network: snapshotTable(IPV4_NETWORKS),
  ipv6Network: snapshotTable(IPV6_NETWORKS),
  naptAssignment: snapshotTable(NAPT_ASSIGNMENTS),
  schedule: snapshotTable(SCHEDULES),
  catalogue: snapshotTable(CATALOGUE),
  order: snapshotTable(ORDERS),
  grant: snapshotTable(GRANTS),
};

function snapshotTable<K extends EntityKind, DatabaseRow>(
  table: EntityTable<K, DatabaseRow>,
): SnapshotTable {
  return {
    sql: table.sql,
    toRow: (row) => toRow(table.kind, table.toEntity(row as DatabaseRow)),
  };
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
    const table = SNAPSHOT_TABLES[kind];
    for await (const page of pages(table.sql)) {
      signal?.throwIfAborted();
      for (const row of page) digest.add(kind, table.toRow(row));
      await yieldToEventLoop();
    }
  }
  return digest.toString();
}
