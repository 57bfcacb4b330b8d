import { LAST_PAGE, pageAddress } from '../../deployment/deployment.js';
import { type InitPart, post, type Step } from './key.js';

/** Versions of a profile's settings take these pages in turn; rollbacks by a whole turn do not occur in a run. */
export const LAST_VERSION_PAGE = 239;
const FIRST_FIXED_PAGE = LAST_VERSION_PAGE + 1;
/** Has an address, but is never created: a profile that refers to it is refused. */
export const MISSING_PAGE = LAST_PAGE;
/** Blocked by every profile that does not change. */
export const LISTED = 'listed.example';

const PAGES = Array.from({ length: LAST_PAGE - 1 }, (_, i) => ({ id: i + 1, type: 1 }));

/** Profiles that do not change, with a page each, that block one name. */
export const FIXED_PROFILES = Array.from({ length: 10 }, (_, i) => ({
  id: 900 + i,
  page: FIRST_FIXED_PAGE + i,
  blocked: pageAddress(FIRST_FIXED_PAGE + i),
}));

/** A page that profiles may share whose own settings do not change. */
export const SHARED_PAGE = FIRST_FIXED_PAGE;

export const PAGE_SETUP: readonly Step[] = PAGES.map((page) => post('/blockpage/', page));

export const FIXED_SETUP: readonly Step[] = FIXED_PROFILES.flatMap(({ id, page }) => [
  post('/profiles/', { profile: { id, page_id: page } }),
  post(`/profile/${id}/bw_list`, { type: 'deny', domain: LISTED }),
]);

/** The same in a whole configuration. */
export const FIXED_PART: InitPart = {
  blockpages: PAGES,
  profiles: FIXED_PROFILES.map(({ id, page }) => ({ profile: { id, page_id: page } })),
  bw_lists: FIXED_PROFILES.map(({ id }) => ({ profile_id: id, type: 'deny', domains: [LISTED] })),
};
