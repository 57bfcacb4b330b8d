import { pageAddress } from '../../deployment/deployment.js';
import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import type { Random } from '../../deployment/random.js';
import { KeyHistory } from '../history.js';
import {
  FIXED_PROFILES,
  type Key,
  LISTED,
  loggedRecord,
  MAX_VERSION_PAGE,
  MISSING_PAGE,
  MISSING_PROFILE,
  post,
  profileFixture,
  type Version,
} from './key.js';

const CATEGORY = 12;
const PLAIN = 'plain.example';
const IN_CATEGORY = 'www.casino.example.com';

/**
 * A profile whose page, options and categories change in one call. An answer that mixes two versions matches
 * neither.
 */
export function settingsKey(index: number): Key {
  const id = 1_000 + index;
  const source = `127.1.0.${index + 1}`;
  const history = new KeyHistory(version(1, false, false, false).answers);
  const nextPage = (): number => (history.requested % MAX_VERSION_PAGE) + 1;
  return {
    name: `profile ${id}`,
    history,
    probes: [LISTED, PLAIN, IN_CATEGORY].map((qname) => ({ source, qname })),
    setUp: [
      post('/profiles/', { profile: { id, page_id: 1 } }),
      post(`/profile/${id}/bw_list`, { type: 'deny', domain: LISTED }),
      post('/net/', { ip: source, profile_id: id }),
    ],
    sql: `SELECT replace(json_build_array(page_id, empty_dns_answer, white_list_only, category_ids)::text, ' ', '')
          FROM profile WHERE id = ${id}`,
    logged: loggedRecord(
      'profile',
      [id],
      ({ pageId, emptyDnsAnswer, whiteListOnly, categoryIds }) =>
        JSON.stringify([pageId, emptyDnsAnswer, whiteListOnly, categoryIds]),
    ),
    next: (random) => {
      const refusal = random.chance(0.1);
      const { settings, ...after } = draw(random, refusal ? MISSING_PAGE : nextPage());
      return { method: 'PATCH', path: `/profiles/${id}`, body: settings, ...after, refusal };
    },
    replace: (random) => {
      const { settings, ...after } = draw(random, nextPage());
      const part = {
        profiles: [{ ...settings, profile: { id, ...settings.profile } }],
        bw_lists: [{ profile_id: id, type: 'deny', domains: [LISTED] }],
        nets: [{ ip: source, profile_id: id }],
      };
      return { part, ...after };
    },
  };
}

function draw(random: Random, page: number) {
  return version(page, random.chance(0.1), random.chance(0.5), random.chance(0.5));
}

/** A profile's settings in the form of the API, and what they lead to. */
function version(page: number, empty: boolean, listOnly: boolean, category: boolean) {
  const blocked = empty ? 'empty' : pageAddress(page);
  const categories = category ? [CATEGORY] : [];
  return {
    settings: {
      profile: { page_id: page, empty_dns_answer: empty, white_list_only: listOnly },
      cat_ids: categories,
    },
    answers: [
      blocked,
      listOnly ? blocked : UPSTREAM_ADDRESS,
      listOnly || category ? blocked : UPSTREAM_ADDRESS,
    ],
    stored: JSON.stringify([page, empty, listOnly, categories]),
  };
}

const WHOLE_WEEK = [{ start: { day: 'monday', time: '00:00' }, end: { day: 6, time: '24:00' } }];

/** A profile whose schedule applies another profile, all week or never. */
export function scheduleKey(index: number): Key {
  const fixture = profileFixture(4_000 + index, `127.6.0.${index + 1}`);
  const { id, source, setUp, blocked, part } = fixture;
  const path = `/profile/${id}/schedule`;
  const none = { answers: [blocked], stored: null };
  let current: Version = none;
  return {
    name: `schedule of profile ${id}`,
    history: new KeyHistory(none.answers),
    probes: [{ source, qname: LISTED }],
    setUp: [...setUp, post(`/profile/${id}/bw_list`, { type: 'deny', domain: LISTED })],
    sql: `SELECT concat_ws(' ', target_profile_id, jsonb_array_length(periods)) FROM schedule WHERE profile_id = ${id}`,
    logged: loggedRecord('schedule', [id], ({ targetProfileId, periods }) => {
      return `${targetProfileId} ${periods.length}`;
    }),
    next: (random) => {
      const isNew = current.stored === null;
      if (!isNew && random.chance(0.3)) {
        current = none;
        return { method: 'DELETE', path, ...none, alreadyDone: 404 };
      }
      const target = random.pick(FIXED_PROFILES);
      const periods = random.chance(0.7) ? WHOLE_WEEK : [];
      const method = isNew ? 'POST' : 'PATCH';
      if (random.chance(0.1)) {
        const body = { target_profile_id: MISSING_PROFILE, periods };
        return { method, path, body, answers: ['nothing'], refusal: true };
      }
      const answers = [periods.length > 0 ? target.blocked : blocked];
      current = { answers, stored: `${target.id} ${periods.length}` };
      const body = { target_profile_id: target.id, periods };
      return { method, path, body, ...current, ...(isNew && { alreadyDone: 409 }) };
    },
    rewound: (stored) => {
      const [target, periods] = (stored ?? '').split(' ').map(Number);
      const profile = FIXED_PROFILES.find((one) => one.id === target);
      const answers = [profile !== undefined && periods !== 0 ? profile.blocked : blocked];
      current = { answers, stored };
    },
    // Schedules are not part of the body. A schedule stays if its profiles stay.
    replace: () => {
      const bw_lists = [{ profile_id: id, type: 'deny', domains: [LISTED] }];
      return { part: { ...part, bw_lists }, ...current };
    },
  };
}
