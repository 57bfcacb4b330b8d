import { api, dataOf, type Schemas } from './api.js';
import { type Loaded, useLoad } from './use-load.js';

type Grant = Schemas['StoredGrant'];

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/** The grants of a profile that hold, again when the first of them ends. @param id undefined: none is loaded */
export function useGrants(id: number | undefined): Loaded<Grant[]> {
  return useLoad(
    id === undefined
      ? undefined
      : (signal) =>
          dataOf(
            api.GET('/profile/{profile_id}/grants', {
              params: { path: { profile_id: id } },
              signal,
            }),
          ),
    [id],
    (grants = []) => {
      const firstEndMs = Math.min(...grants.map(({ until }) => Date.parse(until)));
      return Math.min(Math.max(firstEndMs - Date.now(), MIN_WAIT_MS), MAX_WAIT_MS);
    },
  );
}
