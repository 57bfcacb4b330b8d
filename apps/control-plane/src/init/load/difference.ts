import {
  type DeleteOperation,
  ENTITY_KINDS,
  type EntityKeys,
  type EntityKind,
  type Operation,
  type PutOperation,
  type Row,
  toKeyRow,
} from '@weir/config-model';
import type { ChangedKey } from '../../revisions/change-record.js';
import { type Draft, toEntity } from '../draft/draft.js';
import type { DraftKind, DraftRecord, DraftRecords } from '../draft/draft-table.js';

/** Most rows written and deleted that are logged one by one. After more of them followers load a snapshot. */
export const MAX_LOGGED_ROWS = 20_000;

/** An operation, and the key by which people know what it changes: a network has its address as it was submitted. */
interface Logged<T extends Operation> {
  readonly operation: T;
  readonly key: ChangedKey;
}

export interface LoggedDifference {
  readonly operations: readonly Operation[];
  /** As of `AuthoredChange`. */
  readonly keys: readonly ChangedKey[] | undefined;
}

/** What a replacement of the configuration changes, as long as it is little enough to be logged. */
export class Difference {
  private readonly deletes: Logged<DeleteOperation>[] = [];
  private readonly puts: Logged<PutOperation>[] = [];
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
    else this.deleteKey(kind, toEntity(kind, record), record);
  }

  /** An entity is deleted. @param record as it was submitted. */
  deleteKey<K extends EntityKind>(kind: K, key: EntityKeys[K], record = key): void {
    this.rows++;
    const operation = { type: 'delete', kind, key } as DeleteOperation;
    this.deletes.push({ operation, key: ['delete', kind, toKeyRow(kind, record)] });
  }

  /** A record is inserted, or updated. */
  put<K extends DraftKind>(kind: K, record: DraftRecords[K]): void {
    if (kind === 'applicationRule' || kind === 'profile') return this.changeProfile(record);
    this.rows++;
    const operation = { type: 'put', kind, entity: toEntity(kind, record) } as PutOperation;
    this.puts.push({ operation, key: ['put', kind, toKeyRow(kind, record as never)] });
  }

  /** What is logged: the difference, or `reload` when it is too large. Call it at the end. */
  logged(): LoggedDifference {
    if (this.isTooLarge) return { operations: [{ type: 'reload' }], keys: undefined };
    const puts = [...this.puts];
    for (const id of this.changedProfiles) {
      const row = this.profiles.keys.find(id);
      if (row === null) continue;
      const operation = { type: 'put', kind: 'profile', entity: this.profiles.at(row) } as const;
      puts.push({ operation, key: ['put', 'profile', [id]] });
    }
    const deletes = this.deletes.toSorted((a, b) => rankOf(b.operation) - rankOf(a.operation));
    puts.sort((a, b) => rankOf(a.operation) - rankOf(b.operation));
    // A row with other values was deleted and inserted.
    const written = new Set(
      puts.map(({ operation: { kind, entity } }) => keyText(kind, toKeyRow(kind, entity as never))),
    );
    const known = new Set(puts.map(({ key: [, kind, row] }) => keyText(kind, row)));
    return {
      operations: [
        ...deletes
          .map(({ operation }) => operation)
          .filter(({ kind, key }) => !written.has(keyText(kind, toKeyRow(kind, key as never)))),
        ...puts.map(({ operation }) => operation),
      ],
      keys: [
        ...deletes.map(({ key }) => key).filter(([, kind, row]) => !known.has(keyText(kind, row))),
        ...puts.map(({ key }) => key),
      ],
    };
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

function keyText(kind: EntityKind, key: Row): string {
  return `${kind} ${JSON.stringify(key)}`;
}
