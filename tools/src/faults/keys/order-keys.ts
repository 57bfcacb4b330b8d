import { hashDomain, parseHashKey } from '@weir/dns-name';
import { DEFAULT_PAGE_ADDRESS } from '../../deployment/deployment.js';
import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import { KeyHistory } from '../history.js';
import { type Key, loggedRecord, post, profileFixture } from './key.js';

const UNTIL = '2099-12-31T23:00:00Z';
/** Far beyond the steps of clocks. */
const MINUTES = 20_000;

/** An order for one of two domains, or none, as a client without a profile sees it. */
export function orderKey(index: number): Key {
  const id = 7_000 + index;
  const path = `/orders/${id}`;
  const domains = ['a', 'b'].map((name) => `order-${name}-${index}.example`);
  /** The authority says which one is ordered. */
  const after = (stored: string | null) => ({
    answers: domains.map((domain) =>
      stored?.split(' ')[0] === domain ? DEFAULT_PAGE_ADDRESS : UPSTREAM_ADDRESS,
    ),
    stored,
  });
  let current = after(null);
  return {
    name: `order ${id}`,
    history: new KeyHistory(current.answers),
    probes: domains.map((domain) => ({ source: `127.8.0.${index + 1}`, qname: `www.${domain}` })),
    setUp: [],
    sql: `SELECT concat_ws(' ', authority, extract(epoch FROM until)::bigint) FROM domain_order WHERE id = ${id}`,
    logged: loggedRecord('order', [id], ({ authority, until }) =>
      until === null ? authority : `${authority} ${until}`,
    ),
    next: (random) => {
      const isNew = current.stored === null;
      if (!isNew && random.chance(0.3)) {
        current = after(null);
        return { method: 'DELETE', path, ...current, alreadyDone: 404 };
      }
      const domain = random.pick(domains);
      const until = random.chance(0.5) ? UNTIL : null;
      const texts = { authority: domain, reference: '12 O 345/26' };
      const body = { id, domain, until, ...texts };
      const call = isNew ? post('/orders/', body) : ({ method: 'PATCH', path, body } as const);
      if (random.chance(0.1)) {
        const refused = { ...body, until: '2020-01-01T00:00:00Z' };
        return { ...call, body: refused, answers: ['nothing'], refusal: true };
      }
      current = after(until === null ? domain : `${domain} ${Date.parse(until) / 1_000}`);
      return { ...call, ...current, ...(isNew && { alreadyDone: 409 }) };
    },
    rewound: (stored) => {
      current = after(stored);
    },
    // Orders are not part of the body, and stay.
    replace: () => ({ part: {}, ...current }),
  };
}

/** A profile whose grant turns its rule over, repeats it, or is gone. @param hashKey of the deployment. */
export function grantKey(index: number, hashKey: string): Key {
  const fixture = profileFixture(5_000 + index, `127.9.0.${index + 1}`);
  const { id, source, setUp, blocked, part } = fixture;
  const domain = `grant-${index}.example`;
  const path = `/profile/${id}/grants`;
  const rule = { type: index % 2 === 0 ? 'deny' : 'allow', domain };
  const after = (verdict: string | null) => ({
    answers: [(verdict ?? rule.type) === 'deny' ? blocked : UPSTREAM_ADDRESS],
    stored: verdict === null ? null : verdict === 'allow' ? '1' : '2',
  });
  let isThere = false;
  return {
    name: `grant of profile ${id}`,
    history: new KeyHistory(after(null).answers),
    probes: [{ source, qname: `www.${domain}` }],
    setUp: [...setUp, post(`/profile/${id}/bw_list`, rule)],
    sql: `SELECT verdict FROM domain_grant WHERE profile_id = ${id}`,
    logged: loggedRecord('grant', [id], ({ verdict }) => String(verdict)),
    next: (random) => {
      if (isThere && random.chance(0.3)) {
        isThere = false;
        const grant = hashDomain(domain, parseHashKey(hashKey));
        return { method: 'DELETE', path: `${path}/${grant}`, ...after(null), alreadyDone: 404 };
      }
      const verdict = random.pick(['allow', 'deny']);
      if (random.chance(0.1)) {
        const endless = { domain, verdict };
        return { ...post(path, endless), answers: ['nothing'], refusal: true };
      }
      isThere = true;
      return { ...post(path, { domain, verdict, minutes: MINUTES }), ...after(verdict) };
    },
    replace: () => {
      isThere = false;
      const bw_lists = [{ profile_id: id, type: rule.type, domains: [domain] }];
      return { part: { ...part, bw_lists }, ...after(null) };
    },
  };
}
