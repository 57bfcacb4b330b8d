import {
  type DeleteOperation,
  ENTITY_KINDS,
  type EntityKeys,
  type EntityKind,
  type Entities,
  type Operation,
  type PutOperation,
  toKeyRow,
} from '@weir/config-model';
import { type Draft, toEntity } from '../draft/draft.js';
import type { DraftKind, DraftRecord, DraftRecords } from '../draft/draft-table.js';

/** Most rows written and deleted that are logged one by one. After more of them followers load a snapshot. */
export const MAX_LOGGED_ROWS = 20_000;

/** What a replacement of the configuration changes, as long as it is little enough to be logged. */
export class Difference {
  private readonly deletes: DeleteOperation[] = [];
  private readonly puts: PutOperation[] = [];
  /** Ids of profiles that are written, or whose rules for applications are. */
  private readonly changedProfiles = new Set<number>();
  private rows = 0;

  /** @param profiles of the draft. */
  constructor(private readonly profiles: Draft['profiles']) {}

  /** Nothing more needs to be noted. */
  get isTooLarge(): boolean {
    return this.rows > MAX_LOGGED_ROWS;
  }

  /** A record is deleted. */
  delete<K extends DraftKind>(kind: K, record: DraftRecords[K]): void {
    if (kind === 'applicationRule') this.changeProfile(record);
    else this.deleteKey(kind, toEntity(kind, record));
  }

  /** An entity is deleted. */
  deleteKey<K extends EntityKind>(kind: K, key: EntityKeys[K]): void {
    this.rows++;
    this.deletes.push({ type: 'delete', kind, key } as DeleteOperation);
  }

  /** A record is inserted, or updated. */
  put<K extends DraftKind>(kind: K, record: DraftRecords[K]): void {
    if (kind === 'applicationRule' || kind === 'profile') return this.changeProfile(record);
    this.rows++;
    this.puts.push({ type: 'put', kind, entity: toEntity(kind, record) } as PutOperation);
  }

  /** The operations of the log: those of the difference, or `reload` when they are too many. Call it at the end. */
  operations(): Operation[] {
    if (this.isTooLarge) return [{ type: 'reload' }];
    const put = [...this.puts];
    for (const id of this.changedProfiles) {
      const row = this.profiles.keys.find(id);
      if (row === null) continue;
      put.push({
        type: 'put',
        kind: 'profile',
        entity: this.profiles.at(row),
      });
    }
    const keys = new Set(put.map(({ kind, entity }) => keyText(kind, entity)));
    // A row with other values was deleted and inserted.
    const deleted = this.deletes.filter(({ kind, key }) => !keys.has(keyText(kind, key as never)));
    return [
      ...deleted.sort((a, b) => rankOf(b) - rankOf(a)),
      ...put.sort((a, b) => rankOf(a) - rankOf(b)),
    ];
  }

  private changeProfile(record: DraftRecord): void {
    this.rows++;
    const { id, profileId } = record as { readonly id: number; readonly profileId?: number };
    this.changedProfiles.add(profileId ?? id);
  }
}

/** Kinds that others refer to have a lower rank. */
function rankOf({ kind }: { readonly kind: EntityKind }): number {
  return ENTITY_KINDS.indexOf(kind);
}

function keyText(kind: EntityKind, entity: Entities[EntityKind]): string {
  return `${kind} ${JSON.stringify(toKeyRow(kind, entity as never))}`;
}
