import { pageAddress } from '../../deployment/page-addresses.js';
import { SHARED_PAGE } from './fixed.js';
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
