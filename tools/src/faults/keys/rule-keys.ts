import { fromRow } from '@weir/config-model';
import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import type { Random } from '../../deployment/random.js';
import { KeyHistory } from '../history.js';
import {
  type Key,
  MISSING_PROFILE,
  post,
  profileFixture,
  type ProfileFixture,
  type Step,
} from './key.js';

/** `verdict` of a stored domain rule. */
const VERDICTS = { allow: '1', deny: '2' } as const;
type Verdict = keyof typeof VERDICTS;

/** A call, and the rules that it leads to; null: none. */
type Change = Omit<Step, 'answers' | 'stored'> & { readonly to: Verdict | null };

/** One domain that is added to a list, moved to the other list, and removed. */
export function ruleKey(index: number): Key {
  const fixture = profileFixture(2_000 + index, `127.2.0.${index + 1}`);
  const domain = `rule-${index}.example`;
  const path = `/profile/${fixture.id}/bw_list/${domain}`;
  return rulesKey('domain rule', fixture, [domain], (random, to, isNew) => {
    if (isNew) return { ...post(`/profile/${fixture.id}/bw_list`, { type: to, domain }), to };
    if (random.chance(0.1)) {
      const body = { type: to, profile_id: MISSING_PROFILE };
      return { method: 'PATCH', path, body, refusal: true, to };
    }
    if (random.chance(0.3)) return { method: 'DELETE', path, alreadyDone: 404, to: null };
    return { method: 'PATCH', path, body: { type: to }, to };
  });
}

/** Several domains that one call moves to the other list. Either all of them show the change, or none. */
export function batchKey(index: number): Key {
  const fixture = profileFixture(3_000 + index, `127.3.0.${index + 1}`);
  const domains = ['a', 'b', 'c'].map((name) => `${name}-${index}.example`);
  const path = `/profile/${fixture.id}/bw_list/batch`;
  return rulesKey('domain batch', fixture, domains, (random, type) => {
    if (!random.chance(0.1)) return { ...post(path, { type, domains }), to: type };
    const body = { type, domains: [...domains, 'no domain.example'] };
    return { ...post(path, body), refusal: true, to: type };
  });
}

/** Rules that change together. @param change draws a call that moves them to a list. `isNew`: there are none yet */
function rulesKey(
  what: string,
  { id, source, setUp, blocked, part }: ProfileFixture,
  domains: readonly string[],
  change: (random: Random, to: Verdict, isNew: boolean) => Change,
): Key {
  let state: Verdict | null = null;
  const after = (verdict: Verdict | null) => ({
    answers: domains.map(() => (verdict === 'deny' ? blocked : UPSTREAM_ADDRESS)),
    stored: verdict === null ? null : domains.map(() => VERDICTS[verdict]).join(' '),
  });
  return {
    name: `${what} of profile ${id}`,
    history: new KeyHistory(after(null).answers),
    probes: domains.map((domain) => ({ source, qname: `www.${domain}` })),
    setUp,
    sql: `SELECT string_agg(verdict::text, ' ') FROM domain_rule WHERE profile_id = ${id}`,
    logged: {
      kind: 'domainRule',
      prefix: [id],
      text: (rows) => rows.map((row) => fromRow('domainRule', row).verdict).join(' ') || null,
    },
    next: (random) => {
      const { to, ...step } = change(random, state === 'deny' ? 'allow' : 'deny', state === null);
      if (step.refusal !== true) state = to;
      return { ...step, ...after(to) };
    },
    replace: (random) => {
      state = random.pick([null, 'allow', 'deny'] as const);
      const bw_lists = state === null ? [] : [{ profile_id: id, type: state, domains }];
      return { part: { ...part, bw_lists }, ...after(state) };
    },
  };
}
