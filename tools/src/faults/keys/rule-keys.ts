import { KeyHistory } from '../history.js';
import { fromRow } from '@weir/config-model';
import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import { type Key, type LoggedRecords, MISSING_PROFILE, post } from './key.js';
import { profileFixture } from './fixed.js';

/** `verdict` of a stored domain rule. */
const VERDICTS = { allow: '1', deny: '2' } as const;

/** One domain that is added to a list, moved to the other list, and removed. */
export function ruleKey(index: number): Key {
  const { id, source, setUp, blocked, part } = profileFixture(
    2_000 + index,
    `127.2.0.${index + 1}`,
  );
  const domain = `rule-${index}.example`;
  let state: 'absent' | 'allow' | 'deny' = 'absent';
  const path = `/profile/${id}/bw_list/${domain}`;
  return {
    name: `domain rule of profile ${id}`,
    history: new KeyHistory([UPSTREAM_ADDRESS]),
    probes: [{ source, qname: `www.${domain}` }],
    setUp,
    sql: rulesSql(id),
    logged: loggedRules(id),
    next: (random) => {
      const turned = state === 'deny' ? 'allow' : 'deny';
      const answers = [turned === 'deny' ? blocked : UPSTREAM_ADDRESS];
      if (state !== 'absent' && random.chance(0.1)) {
        const body = { type: turned, profile_id: MISSING_PROFILE };
        return { method: 'PATCH', path, body, answers, refusal: true };
      }
      if (state !== 'absent' && random.chance(0.3)) {
        state = 'absent';
        const gone = { answers: [UPSTREAM_ADDRESS], stored: null, alreadyDone: 404 };
        return { method: 'DELETE', path, ...gone };
      }
      const isNew = state === 'absent';
      state = turned;
      const after = { answers, stored: VERDICTS[turned] };
      if (isNew) return { ...post(`/profile/${id}/bw_list`, { type: turned, domain }), ...after };
      return { method: 'PATCH', path, body: { type: turned }, ...after };
    },
    replace: (random) => {
      state = random.pick(['absent', 'allow', 'deny']);
      const answers = [state === 'deny' ? blocked : UPSTREAM_ADDRESS];
      if (state === 'absent') return { part, answers, stored: null };
      const bw_lists = [{ profile_id: id, type: state, domains: [domain] }];
      return { part: { ...part, bw_lists }, answers, stored: VERDICTS[state] };
    },
  };
}

/** Several domains that one call moves to the other list. Either all of them show the change, or none. */
export function batchKey(index: number): Key {
  const { id, source, setUp, blocked, part } = profileFixture(
    3_000 + index,
    `127.3.0.${index + 1}`,
  );
  const domains = ['a', 'b', 'c'].map((name) => `${name}-${index}.example`);
  const path = `/profile/${id}/bw_list/batch`;
  let deny = false;
  return {
    name: `domain batch of profile ${id}`,
    history: new KeyHistory(domains.map(() => UPSTREAM_ADDRESS)),
    probes: domains.map((qname) => ({ source, qname })),
    setUp,
    sql: rulesSql(id),
    logged: loggedRules(id),
    next: (random) => {
      const turned = deny ? 'allow' : 'deny';
      const answers = domains.map(() => (turned === 'deny' ? blocked : UPSTREAM_ADDRESS));
      if (random.chance(0.1)) {
        const body = { type: turned, domains: [...domains, 'no domain.example'] };
        return { ...post(path, body), answers, refusal: true };
      }
      deny = !deny;
      const stored = domains.map(() => VERDICTS[turned]).join(' ');
      return { ...post(path, { type: turned, domains }), answers, stored };
    },
    replace: (random) => {
      deny = random.chance(0.5);
      const type = deny ? 'deny' : 'allow';
      return {
        part: { ...part, bw_lists: [{ profile_id: id, type, domains }] },
        answers: domains.map(() => (deny ? blocked : UPSTREAM_ADDRESS)),
        stored: domains.map(() => VERDICTS[type]).join(' '),
      };
    },
  };
}

function rulesSql(profileId: number): string {
  return `SELECT string_agg(verdict::text, ' ') FROM domain_rule WHERE profile_id = ${profileId}`;
}

function loggedRules(profileId: number): LoggedRecords {
  return {
    kind: 'domainRule',
    prefix: [profileId],
    text: (rows) => rows.map((row) => fromRow('domainRule', row).verdict).join(' ') || null,
  };
}
