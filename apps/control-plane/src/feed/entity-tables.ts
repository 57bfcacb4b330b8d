import { type EntityKind, type Row, toRow } from '@weir/config-model';
import { CATALOGUE } from '../catalogue/store/catalogue-store.js';
import type { EntityTable } from '../platform/database/entity-table.js';
import { BLOCK_PAGES } from '../resources/block-pages/block-page-store.js';
import { DOMAIN_RULES } from '../resources/domain-lists/domain-rule-store.js';
import { NAPT_ASSIGNMENTS } from '../resources/networks/napt/napt-store.js';
import { IPV4_NETWORKS, IPV6_NETWORKS } from '../resources/networks/prefixes/network-store.js';
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
};

function snapshotTable<K extends EntityKind, DatabaseRow>(
  table: EntityTable<K, DatabaseRow>,
): SnapshotTable {
  return {
    sql: table.sql,
    toRow: (row) => toRow(table.kind, table.toEntity(row as DatabaseRow)),
  };
}
