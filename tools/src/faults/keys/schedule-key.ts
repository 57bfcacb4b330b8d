import { KeyHistory } from '../history.js';
import {
  FIXED_PROFILES,
  type Key,
  LISTED,
  loggedRecord,
  MISSING_PROFILE,
  post,
  profileFixture,
} from './key.js';

const WHOLE_WEEK = [{ start: { day: 'monday', time: '00:00' }, end: { day: 6, time: '24:00' } }];

/** A profile whose schedule applies another profile, all week or never. */
export function scheduleKey(index: number): Key {
  const { id, source, setUp, blocked, part } = profileFixture(
    4_000 + index,
    `127.6.0.${index + 1}`,
  );
  const path = `/profile/${id}/schedule`;
  const none = { answers: [blocked], stored: null };
  let current: { answers: readonly string[]; stored: string | null } = none;
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
