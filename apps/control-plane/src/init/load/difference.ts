import {
  type EncodedOperation,
  ENTITY_KINDS,
  type EntityKind,
  type Operation,
  type Row,
  toKeyRow,
} from '@weir/config-model';
import { type Draft, toEntity } from '../draft/draft.js';
import type { DraftKind } from '../draft/draft-table.js';

/** Most rows written and deleted that are logged one by one. After more of them followers load a snapshot. */
export const MAX_LOGGED_ROWS = 20_000;

/** A record of a draft or of a table, or its key. A network has its host bits: people know it by that address. */
interface Changed {
  readonly kind: EntityKind;
  readonly record: object;
}

export interface LoggedDifference {
  readonly operations: readonly Operation[];
  /** What the record names in place of the operations; undefined: nothing else. */
  readonly keys: readonly EncodedOperation[] | undefined;
}

/** What a replacement of the configuration changes, as long as it is little enough to be logged. */
export class Difference {
  private readonly deletes: Changed[] = [];
  private readonly puts: Changed[] = [];
  /** Ids of profiles that are written, or whose rules for applications are. */
  private readonly changedProfiles = new Set<number>();
  private rows = 0;

  /** @param profiles of the draft. */
  constructor(private readonly profiles: Draft['profiles']) {}

  /** Nothing more needs to be noted. */
  get isTooLarge(): boolean {
    return this.rows > MAX_LOGGED_ROWS;
  }

  /** A record is deleted. Of an entity that is no part of a draft its key is enough. */
  delete(kind: DraftKind | EntityKind, record: object): void {
    this.rows++;
    if (kind === 'applicationRule') this.changeProfile(record);
    else this.deletes.push({ kind, record });
  }

  /** A record is inserted, or updated. */
  put(kind: DraftKind, record: object): void {
    this.rows++;
    if (kind === 'applicationRule' || kind === 'profile') this.changeProfile(record);
    else this.puts.push({ kind, record });
  }

  /** What is logged: the difference, or `reload` when it is too large. Call it at the end. */
  logged(): LoggedDifference {
    if (this.isTooLarge) return { operations: [{ type: 'reload' }], keys: undefined };
    const puts = [...this.puts];
    for (const id of this.changedProfiles) {
      const row = this.profiles.keys.find(id);
      if (row !== null) puts.push({ kind: 'profile', record: this.profiles.at(row) });
    }
    puts.sort((a, b) => rankOf(a) - rankOf(b));
    const deletes = this.deletes.toSorted((a, b) => rankOf(b) - rankOf(a));
    // A row with other values was deleted and inserted.
    const written = new Set(puts.map((one) => keyText(one.kind, entityOf(one))));
    const known = new Set(puts.map(({ kind, record }) => keyText(kind, record)));
    const deleted = deletes.filter((one) => !written.has(keyText(one.kind, entityOf(one))));
    const gone = deletes.filter(({ kind, record }) => !known.has(keyText(kind, record)));
    return {
      operations: [
        ...deleted.map((one) => ({ type: 'delete', kind: one.kind, key: entityOf(one) })),
        ...puts.map((one) => ({ type: 'put', kind: one.kind, entity: entityOf(one) })),
      ] as Operation[],
      keys: [
        ...gone.map(({ kind, record }): EncodedOperation => ['delete', kind, keyOf(kind, record)]),
        ...puts.map(({ kind, record }): EncodedOperation => ['put', kind, keyOf(kind, record)]),
      ],
    };
  }

  private changeProfile(record: object): void {
    const { id, profileId } = record as { readonly id: number; readonly profileId?: number };
    this.changedProfiles.add(profileId ?? id);
  }
}

/** Kinds that others refer to have a lower rank. */
function rankOf({ kind }: Changed): number {
  return ENTITY_KINDS.indexOf(kind);
}

function entityOf({ kind, record }: Changed): object {
  return toEntity(kind, record);
}

function keyOf(kind: EntityKind, record: object): Row {
  return toKeyRow(kind, record as never);
}

function keyText(kind: EntityKind, record: object): string {
  return `${kind} ${JSON.stringify(keyOf(kind, record))}`;
}
