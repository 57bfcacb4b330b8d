import type { PublishedChange } from '@weir/change-feed';
import { type EncodedOperation, KEY_LENGTHS } from '@weir/config-model';
import type { Author } from './author.js';
import type { EntityChange } from './entity-change.js';

/** Most keys in one record: a change may have millions. */
export const MAX_RECORDED = 100;

/** Stands for every profile among the ids of those that a change concerns. */
export const EVERY_PROFILE = -1;

/** A change, and what its record needs besides. */
export interface AuthoredChange {
  readonly change: PublishedChange;
  readonly author: Author;
  /** The ids of those that it concerns. */
  readonly profiles: readonly number[];
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
    profile_ids: profiles,
  };
}

/** A row begins with its key. */
function withoutValues(operation: EncodedOperation): unknown {
  const [type, kind, row] = operation;
  return type === 'reload' ? operation : [type, kind, row.slice(0, KEY_LENGTHS[kind])];
}

/** The profiles that the entities belonged to before the change, or belong to after it. */
export function concernedProfiles(changes: readonly EntityChange[]): readonly number[] {
  const ids = new Set<number>();
  for (const change of changes) addProfiles(change, ids);
  return [...ids];
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
