import {
  type DeleteOperation,
  ENTITY_KINDS,
  type EntityKeys,
  type EntityKind,
  type Entities,
  type Ipv4Network,
  type Ipv6Network,
  type Operation,
  type PutOperation,
  toKeyRow,
} from '@weir/config-model';
import { IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { masked } from '../../resources/networks/prefixes/network-store.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import type { DraftProfiles } from '../draft/draft.js';
import type { ComparedKind, ComparedRecord, ComparedRecords } from './compared-tables.js';

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
  constructor(private readonly profiles: DraftProfiles) {}

  /** Nothing more needs to be noted. */
  get isTooLarge(): boolean {
    return this.rows > MAX_LOGGED_ROWS;
  }

  /** A record is deleted. */
  delete<K extends ComparedKind>(kind: K, record: ComparedRecords[K]): void {
    if (kind === 'applicationRule') this.changeProfile(record);
    else this.deleteKey(kind, entityOf(kind, record));
  }

  /** An entity is deleted. */
  deleteKey<K extends EntityKind>(kind: K, key: EntityKeys[K]): void {
    this.rows++;
    this.deletes.push({ type: 'delete', kind, key } as DeleteOperation);
  }

  /** A record is inserted, or updated. */
  put<K extends ComparedKind>(kind: K, record: ComparedRecords[K]): void {
    if (kind === 'applicationRule' || kind === 'profile') return this.changeProfile(record);
    this.rows++;
    this.puts.push({ type: 'put', kind, entity: entityOf(kind, record) } as PutOperation);
  }

  /** The operations of the log: those of the difference, or `reload` when they are too many. Call it at the end. */
  operations(): Operation[] {
    if (this.isTooLarge) return [{ type: 'reload' }];
    const put = [...this.puts];
    for (const id of this.changedProfiles) {
      const row = this.profiles.keys.find(id);
      if (row === null) continue;
      put.push({ type: 'put', kind: 'profile', entity: toProfile(this.profiles.at(row)) });
    }
    const keys = new Set(put.map(({ kind, entity }) => keyText(kind, entity)));
    // A row with other values was deleted and inserted.
    const deleted = this.deletes.filter(({ kind, key }) => !keys.has(keyText(kind, key as never)));
    return [
      ...deleted.sort((a, b) => rankOf(b) - rankOf(a)),
      ...put.sort((a, b) => rankOf(a) - rankOf(b)),
    ];
  }

  private changeProfile(record: ComparedRecord): void {
    this.rows++;
    const { id, profileId } = record as { readonly id: number; readonly profileId?: number };
    this.changedProfiles.add(profileId ?? id);
  }
}

/** The record as followers know it. */
function entityOf(kind: ComparedKind, record: ComparedRecord): object {
  if (kind === 'ipv4Network') return masked(IPV4, record as Ipv4Network);
  return kind === 'ipv6Network' ? masked(IPV6, record as Ipv6Network) : record;
}

/** Kinds that others refer to have a lower rank. */
function rankOf({ kind }: { readonly kind: EntityKind }): number {
  return ENTITY_KINDS.indexOf(kind);
}

function keyText(kind: EntityKind, entity: Entities[EntityKind]): string {
  return `${kind} ${JSON.stringify(toKeyRow(kind, entity as never))}`;
}
