import {
  type DeleteOperation,
  type Entities,
  ENTITY_KINDS,
  type EntityKind,
  type Operation,
  type PutOperation,
  toKeyRow,
} from '@weir/config-model';
import type { PoolClient } from 'pg';
import type { EntityTable } from '../../platform/database/entity-table.js';
import { BLOCK_PAGES } from '../../resources/block-pages/block-page-store.js';
import { DOMAIN_RULES } from '../../resources/domain-lists/domain-rule-store.js';
import { NAPT_ASSIGNMENTS } from '../../resources/networks/napt/napt-store.js';
import {
  IPV4_NETWORKS,
  IPV6_NETWORKS,
  NETWORK_COLUMNS,
} from '../../resources/networks/prefixes/network-store.js';
import { PROFILES, profilesOf } from '../../resources/profiles/profile-store.js';
import type { TableName } from './tables.js';

/** Most rows written and deleted that are logged one by one. After more of them followers load a snapshot. */
export const MAX_LOGGED_ROWS = 20_000;

interface EntityRows {
  readonly table: EntityTable<EntityKind, never>;
  readonly columns: string;
}

const entityRows = <K extends EntityKind>(
  table: EntityTable<K, never>,
  columns: string,
): EntityRows => ({ table, columns });

/** The tables whose rows are entities. A profile has rows in two tables. */
const ENTITY_ROWS: Readonly<Partial<Record<TableName, EntityRows>>> = {
  block_page: entityRows(BLOCK_PAGES, 'block_page.id, block_page.type'),
  domain_rule: entityRows(DOMAIN_RULES, 'profile_id, domain_hash::float8 AS domain_hash, verdict'),
  napt_assignment: entityRows(
    NAPT_ASSIGNMENTS,
    'host(address) AS address, lower_port, upper_port, profile_id',
  ),
  ipv4_network: entityRows(IPV4_NETWORKS, NETWORK_COLUMNS),
  ipv6_network: entityRows(IPV6_NETWORKS, NETWORK_COLUMNS),
};

/** What a replacement of the configuration changes, as long as it is little enough to be logged. */
export class Difference {
  private readonly deleted: DeleteOperation[] = [];
  private readonly put: PutOperation[] = [];
  private readonly deletedProfiles = new Set<number>();
  private readonly changedProfiles = new Set<number>();
  private rows = 0;

  constructor(private readonly client: PoolClient) {}

  /** Runs a statement that deletes rows of a table. */
  async deleteBy(statement: string, table: TableName): Promise<void> {
    const { rows, entities } = await this.run(statement, table);
    if (table === 'profile') for (const { id } of rows) this.deletedProfiles.add(id);
    if (table === 'application_rule') for (const { id } of rows) this.changedProfiles.add(id);
    for (const [kind, key] of entities) {
      this.deleted.push({ type: 'delete', kind, key } as DeleteOperation);
    }
  }

  /** Runs a statement that inserts or updates rows of a table. */
  async putBy(statement: string, table: TableName): Promise<void> {
    this.recordPut(await this.run(statement, table));
  }

  /** Call it when all rows of a table are new. */
  async putAll(table: TableName): Promise<void> {
    this.recordPut(await this.read(`SELECT ${columnsOf(table)} FROM ${table}`, table));
  }

  /** Runs a statement that deletes schedules. */
  async deleteSchedulesBy(statement: string): Promise<void> {
    const { rows } = await this.client.query<{ profile_id: number }>(
      `${statement} RETURNING profile_id`,
    );
    for (const { profile_id: profileId } of rows) {
      this.deleted.push({ type: 'delete', kind: 'schedule', key: { profileId } });
    }
    this.rows += rows.length;
  }

  /** The operations of the log: those of the difference, or `reload` when they are too many. Call it at the end. */
  async operations(): Promise<Operation[]> {
    if (this.isTooLarge) return [{ type: 'reload' }];
    const ids = [...this.changedProfiles].filter((id) => !this.deletedProfiles.has(id));
    const { rows } = await this.client.query<never>(profilesOf(ids));
    const profiles = rows.map((row): PutOperation => {
      return { type: 'put', kind: 'profile', entity: PROFILES.toEntity(row) };
    });
    const put = [...this.put, ...profiles];
    const keys = new Set(put.map(({ kind, entity }) => keyText(kind, entity)));
    const deleted = [
      // A row with other values was deleted and inserted.
      ...this.deleted.filter(({ kind, key }) => !keys.has(keyText(kind, key as never))),
      ...Array.from(this.deletedProfiles, (id): DeleteOperation => {
        return { type: 'delete', kind: 'profile', key: { id } };
      }),
    ];
    return [
      ...deleted.sort((a, b) => rankOf(b) - rankOf(a)),
      ...put.sort((a, b) => rankOf(a) - rankOf(b)),
    ];
  }

  private get isTooLarge(): boolean {
    return this.rows > MAX_LOGGED_ROWS;
  }

  private recordPut({ rows, entities }: Rows): void {
    for (const { id } of rows) this.changedProfiles.add(id);
    for (const [kind, entity] of entities) {
      this.put.push({ type: 'put', kind, entity } as PutOperation);
    }
  }

  private async run(statement: string, table: TableName): Promise<Rows> {
    if (!this.isTooLarge) {
      return this.read(
        `WITH written AS (${statement} RETURNING ${columnsOf(table)}) SELECT * FROM written`,
        table,
      );
    }
    await this.client.query(statement);
    return NO_ROWS;
  }

  private async read(query: string, table: TableName): Promise<Rows> {
    if (this.isTooLarge) return NO_ROWS;
    const { rows } = await this.client.query<never>(`${query} LIMIT ${MAX_LOGGED_ROWS + 1}`);
    this.rows += rows.length;
    const entity = ENTITY_ROWS[table]?.table;
    if (entity === undefined) return { rows, entities: [] };
    return { rows: [], entities: rows.map((row) => [entity.kind, entity.toEntity(row)]) };
  }
}

/** Rows of profiles as ids, rows of other tables as entities. */
interface Rows {
  readonly rows: readonly { readonly id: number }[];
  readonly entities: readonly (readonly [EntityKind, Entities[EntityKind]])[];
}

const NO_ROWS: Rows = { rows: [], entities: [] };

function columnsOf(table: TableName): string {
  if (table === 'application_rule') return 'profile_id AS id';
  return ENTITY_ROWS[table]?.columns ?? `${table}.id`;
}

/** Kinds that others refer to have a lower rank. */
function rankOf({ kind }: { readonly kind: EntityKind }): number {
  return ENTITY_KINDS.indexOf(kind);
}

function keyText(kind: EntityKind, entity: Entities[EntityKind]): string {
  return `${kind} ${JSON.stringify(toKeyRow(kind, entity as never))}`;
}
