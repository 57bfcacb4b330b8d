import type { PublishedChange } from '@weir/change-feed';
import { type EncodedOperation, KEY_LENGTHS } from '@weir/config-model';
import type { Author } from './author.js';
import type { EntityChange } from './entity-change.js';

/** Most keys in one record: a change may have millions. */
export const MAX_RECORDED = 100;

/** The profiles that a change concerns. */
export interface ConcernedProfiles {
  readonly ids: readonly number[];
  /** It concerns all, whatever their ids. */
  readonly all: boolean;
}

export const ALL_PROFILES: ConcernedProfiles = { ids: [], all: true };

/** A change, and what its record needs besides. */
export interface AuthoredChange {
  readonly change: PublishedChange;
  readonly author: Author;
  readonly profiles: ConcernedProfiles;
  /** As of `WorkResult`. */
  readonly besides?: readonly (readonly unknown[])[];
}

/** A row of `change_record`, without its time. Columns that are missing are null. */
export type ChangeRecord = Readonly<Record<string, unknown>>;

export function toRecord({ change, author, profiles, besides = [] }: AuthoredChange): ChangeRecord {
  const { revision, operations } = change;
  const call = author.origin === 'api' ? author : null;
  return {
    revision,
    origin: author.origin,
    ...(call && {
      token: call.token,
      source: call.source,
      request_id: call.requestId,
      method: call.method,
      route: call.route,
    }),
    keys: [...operations.slice(0, MAX_RECORDED).map(withoutValues), ...besides],
    key_count: operations.length + besides.length,
    profile_ids: profiles.ids,
    all_profiles: profiles.all,
  };
}

/** A row begins with its key. */
function withoutValues(operation: EncodedOperation): unknown {
  const [type, kind, row] = operation;
  return type === 'reload' ? operation : [type, kind, row.slice(0, KEY_LENGTHS[kind])];
}

/** The profiles that the entities belonged to before the change, or belong to after it. */
export function concernedProfiles(changes: readonly EntityChange[]): ConcernedProfiles {
  const ids = new Set<number>();
  for (const change of changes) addProfiles(change, ids);
  return { ids: [...ids], all: false };
}

function addProfiles(change: EntityChange, ids: Set<number>): void {
  if (change.kind === 'profile') {
    const profile = change.before ?? change.after;
    if (profile !== null) ids.add(profile.id);
    return;
  }
  for (const entity of [change.before, change.after]) {
    if (entity !== null && 'profileId' in entity) ids.add(entity.profileId);
  }
}
