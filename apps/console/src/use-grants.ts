import { api, dataOf, type Schemas } from './api.js';
import { ROWS } from './paging.js';
import { type Loaded, useLoad } from './use-load.js';

type Grant = Schemas['StoredGrant'];

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/** Until the first of these grants ends. */
function waitMsFor(grants: readonly Grant[]): number {
  const firstEndMs = Math.min(...grants.map(({ until }) => Date.parse(until)));
  return Math.min(Math.max(firstEndMs - Date.now(), MIN_WAIT_MS), MAX_WAIT_MS);
}

/**
 * A page of the grants of a profile that hold, and the first one of the next page. They are loaded again when the first
 * of them ends.
 * @param after the last grant of the page before
 */
export function useGrants(id: number, after: Grant | null): Loaded<Grant[]> {
  const place = after === null ? {} : { after: `${after.until},${after.id}` };
  return useLoad(
    (signal) => {
      const params = { path: { profile_id: id }, query: { ...place, limit: ROWS + 1 } };
      return dataOf(api.GET('/profile/{profile_id}/grants', { params, signal }));
    },
    [id, place.after],
    (grants = []) => waitMsFor(grants),
  );
}

/** One grant, again when it ends. @param id undefined: none is loaded */
export function useGrant(profile: number | undefined, id: number | undefined): Loaded<Grant> {
  return useLoad(
    id === undefined || profile === undefined
      ? undefined
      : (signal) => {
          const params = { path: { profile_id: profile, id } };
          return dataOf(api.GET('/profile/{profile_id}/grants/{id}', { params, signal }));
        },
    [profile, id],
    (grant) => waitMsFor(grant === undefined ? [] : [grant]),
  );
}
