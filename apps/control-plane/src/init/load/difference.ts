import {
  type DeleteOperation,
  type Entities,
  ENTITY_KINDS,
  type EntityKeys,
  type EntityKind,
  type Ipv4Network,
  type Ipv6Network,
  type Operation,
  type PutOperation,
  toKeyRow,
} from '@weir/config-model';
import type { ClientBase, QueryConfig } from 'pg';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { BLOCK_PAGES } from '../../resources/block-pages/block-page-store.js';
import { IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { masked } from '../../resources/networks/prefixes/network-store.js';
import { PROFILES, profilesOf } from '../../resources/profiles/profile-store.js';
import type { ComparedRecords } from './compared-tables.js';
import type { ReferredTableName } from './staged-tables.js';

/** Most rows written and deleted that are logged one by one. After more of them followers load a snapshot. */
export const MAX_LOGGED_ROWS = 20_000;

/** Ids of a table that others refer to. */
class ChangedIds {
  readonly written = new Set<number>();
  readonly deleted = new Set<number>();

  /** Those that are there. */
  get kept(): number[] {
    return [...this.written].filter((id) => !this.deleted.has(id));
  }
}

/** What a replacement of the configuration changes, as long as it is little enough to be logged. */
export class Difference {
  private readonly deletes: DeleteOperation[] = [];
  private readonly puts: PutOperation[] = [];
  private readonly ids: Readonly<Record<ReferredTableName, ChangedIds>> = {
    block_page: new ChangedIds(),
    profile: new ChangedIds(),
  };
  private rows = 0;

  constructor(private readonly client: ClientBase) {}

  /** Nothing more needs to be noted. */
  get isTooLarge(): boolean {
    return this.rows > MAX_LOGGED_ROWS;
  }

  /** A record is deleted. */
  delete<K extends keyof ComparedRecords>(kind: K, record: ComparedRecords[K]): void {
    const key = this.count(kind, record);
    if (key !== null) this.deletes.push({ type: 'delete', kind, key } as DeleteOperation);
  }

  /** A record is inserted. */
  put<K extends keyof ComparedRecords>(kind: K, record: ComparedRecords[K]): void {
    const entity = this.count(kind, record);
    if (entity !== null) this.puts.push({ type: 'put', kind, entity } as PutOperation);
  }

  /** Runs a statement that deletes rows of a table. */
  async deleteBy(statement: string, table: ReferredTableName): Promise<void> {
    for (const id of await this.run(statement, table)) this.ids[table].deleted.add(id);
  }

  /** Runs a statement that inserts or updates rows of a table. */
  async putBy(statement: string, table: ReferredTableName): Promise<void> {
    for (const id of await this.run(statement, table)) this.ids[table].written.add(id);
  }

  /** Runs a statement that deletes schedules or grants, and returns their keys. */
  async deleteKeysBy(kind: 'schedule' | 'grant', statement: string): Promise<void> {
    const { rows } = await this.client.query<EntityKeys[typeof kind]>(statement);
    this.rows += rows.length;
    for (const key of rows) this.deletes.push({ type: 'delete', kind, key } as DeleteOperation);
  }

  /** The operations of the log: those of the difference, or `reload` when they are too many. Call it at the end. */
  async operations(): Promise<Operation[]> {
    if (this.isTooLarge) return [{ type: 'reload' }];
    const pages = `SELECT id, type FROM block_page WHERE id = ANY ('{${this.ids.block_page.kept.join(',')}}')`;
    const put = [
      ...this.puts,
      ...(await this.readPuts(BLOCK_PAGES, pages)),
      ...(await this.readPuts(PROFILES, profilesOf(this.ids.profile.kept))),
    ];
    const keys = new Set(put.map(({ kind, entity }) => keyText(kind, entity)));
    const deleted = [
      // A row with other values was deleted and inserted.
      ...this.deletes.filter(({ kind, key }) => !keys.has(keyText(kind, key as never))),
      ...Array.from(this.ids.block_page.deleted, (id) => deleteById('blockPage', id)),
      ...Array.from(this.ids.profile.deleted, (id) => deleteById('profile', id)),
    ];
    return [
      ...deleted.sort((a, b) => rankOf(b) - rankOf(a)),
      ...put.sort((a, b) => rankOf(a) - rankOf(b)),
    ];
  }

  /** @returns the record as followers know it; null: it is part of its profile. */
  private count(kind: keyof ComparedRecords, record: ComparedRecords[typeof kind]): object | null {
    this.rows++;
    if (kind === 'ipv4Network') return masked(IPV4, record as Ipv4Network);
    if (kind === 'ipv6Network') return masked(IPV6, record as Ipv6Network);
    if (kind !== 'applicationRule') return record;
    this.ids.profile.written.add(record.profileId);
    return null;
  }

  /** @returns the ids of the rows that were written or deleted. */
  private async run(statement: string, table: ReferredTableName): Promise<number[]> {
    if (this.isTooLarge) {
      await this.client.query(statement);
      return [];
    }
    const { rows } = await this.client.query<{ id: number }>(`
      WITH written AS (${statement} RETURNING ${table}.id)
      SELECT id FROM written LIMIT ${MAX_LOGGED_ROWS + 1}`);
    this.rows += rows.length;
    return rows.map(({ id }) => id);
  }

  private async readPuts<K extends EntityKind, Row extends object>(
    table: EntityTable<K, Row>,
    query: string | QueryConfig,
  ): Promise<PutOperation[]> {
    const { rows } = await this.client.query<Row>(query);
    return rows.map(
      (row) => ({ type: 'put', kind: table.kind, entity: table.toEntity(row) }) as PutOperation,
    );
  }
}

function deleteById(kind: 'blockPage' | 'profile', id: number): DeleteOperation {
  return { type: 'delete', kind, key: { id } };
}

/** Kinds that others refer to have a lower rank. */
function rankOf({ kind }: { readonly kind: EntityKind }): number {
  return ENTITY_KINDS.indexOf(kind);
}

function keyText(kind: EntityKind, entity: Entities[EntityKind]): string {
  return `${kind} ${JSON.stringify(toKeyRow(kind, entity as never))}`;
}
