import { MAX_PAGE_ID, pageAddress } from '../../deployment/deployment.js';
import { type InitPart, post, type Step } from './key.js';

/** A profile with its own block page and one subscriber. */
export interface ProfileFixture {
  readonly id: number;
  readonly source: string;
  readonly blocked: string;
  readonly setUp: readonly Step[];
  readonly part: Pick<InitPart, 'profiles' | 'nets'>;
}

export function profileFixture(id: number, source: string): ProfileFixture {
  const profile = { profile: { id, page_id: SHARED_PAGE } };
  const network = { ip: source, profile_id: id };
  return {
    id,
    source,
    blocked: pageAddress(SHARED_PAGE),
    setUp: [post('/profiles/', profile), post('/net/', network)],
    part: { profiles: [profile], nets: [network] },
  };
}

/** Versions of a profile's settings use these pages in turn. A run never goes back by a whole turn. */
export const MAX_VERSION_PAGE = 239;
const FIRST_FIXED_PAGE = MAX_VERSION_PAGE + 1;
/** Has an address but does not exist: a profile that refers to it is refused. */
export const MISSING_PAGE = MAX_PAGE_ID;
/** Blocked by every fixed profile. */
export const LISTED = 'listed.example';

const PAGES = Array.from({ length: MAX_PAGE_ID - 1 }, (_, i) => ({ id: i + 1, type: 1 }));

/** Profiles that never change. Each has its own page and blocks one name. */
export const FIXED_PROFILES = Array.from({ length: 10 }, (_, i) => ({
  id: 900 + i,
  page: FIRST_FIXED_PAGE + i,
  blocked: pageAddress(FIRST_FIXED_PAGE + i),
}));

/** The page of profiles whose settings never change. */
export const SHARED_PAGE = FIRST_FIXED_PAGE;

export const PAGE_SETUP: readonly Step[] = PAGES.map((page) => post('/blockpage/', page));

export const FIXED_SETUP: readonly Step[] = FIXED_PROFILES.flatMap(({ id, page }) => [
  post('/profiles/', { profile: { id, page_id: page } }),
  post(`/profile/${id}/bw_list`, { type: 'deny', domain: LISTED }),
]);

/** The same for `POST /init/`. */
export const FIXED_PART: InitPart = {
  blockpages: PAGES,
  profiles: FIXED_PROFILES.map(({ id, page }) => ({ profile: { id, page_id: page } })),
  bw_lists: FIXED_PROFILES.map(({ id }) => ({ profile_id: id, type: 'deny', domains: [LISTED] })),
};
