import { fromRow } from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { DEFAULT_PAGE_ADDRESS, pageAddress } from '../../deployment/deployment.js';
import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import {
  type Call,
  FIXED_PROFILES,
  type Key,
  LISTED,
  loggedRecord,
  MAX_VERSION_PAGE,
  MISSING_PAGE,
  MISSING_PROFILE,
  post,
  profileFixture,
  type ProfileFixture,
} from './key.js';
import { recordKey } from './record-key.js';

const CATEGORY = 12;
const PLAIN = 'plain.example';
const IN_CATEGORY = 'www.casino.example.com';

/**
 * A profile whose page, options and categories change in one call. An answer that mixes two versions matches
 * neither.
 */
function settingsKey(index: number): Key {
  const id = 1_000 + index;
  const source = `127.1.0.${index + 1}`;
  const first = settings(1, false, false, false);
  const listed = { profile_id: id, type: 'deny', domains: [LISTED] };
  let versions = 1;
  return recordKey({
    name: `profile ${id}`,
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
    none: first.answers,
    draw: (random) => {
      const page = (versions++ % MAX_VERSION_PAGE) + 1;
      return settings(page, random.chance(0.1), random.chance(0.5), random.chance(0.5));
    },
    put: (body) => ({ method: 'PATCH', path: `/profiles/${id}`, body }),
    wrong: ({ profile, ...rest }) => ({
      ...rest,
      profile: { ...(profile as object), page_id: MISSING_PAGE },
    }),
    atInit: 'there',
    part: (body) => ({
      profiles: [{ ...body, profile: { id, ...(body?.['profile'] as object) } }],
      bw_lists: [listed],
      nets: [{ ip: source, profile_id: id }],
    }),
  });
}

/** A profile's settings in the form of the API, and what they lead to. */
function settings(page: number, empty: boolean, listOnly: boolean, category: boolean) {
  const blocked = empty ? 'empty' : pageAddress(page);
  const categories = category ? [CATEGORY] : [];
  return {
    body: {
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

/** `verdict` of a stored domain rule or grant. */
const VERDICTS = { allow: '1', deny: '2' } as const;

/** One domain that is added to a list, moved to the other list, and removed. */
function ruleKey(index: number): Key {
  const fixture = profileFixture(2_000 + index, `127.2.0.${index + 1}`);
  const domain = `rule-${index}.example`;
  const path = `/profile/${fixture.id}/bw_list/${domain}`;
  return rulesKey('domain rule', fixture, [domain], {
    put: ({ type }, before) =>
      before === null
        ? post(`/profile/${fixture.id}/bw_list`, { type, domain })
        : { method: 'PATCH', path, body: { type } },
    wrong: (body) =>
      'domain' in body
        ? { ...body, domain: 'no domain.example' }
        : { ...body, profile_id: MISSING_PROFILE },
    path: () => path,
  });
}

/** Several domains that one call moves to the other list. Either all of them show the change, or none. */
function batchKey(index: number): Key {
  const fixture = profileFixture(3_000 + index, `127.3.0.${index + 1}`);
  const domains = ['a', 'b', 'c'].map((name) => `${name}-${index}.example`);
  return rulesKey('domain batch', fixture, domains, {
    put: (body) => post(`/profile/${fixture.id}/bw_list/batch`, body),
    wrong: (body) => ({ ...body, domains: [...domains, 'no domain.example'] }),
  });
}

/** Rules that change together. */
function rulesKey(
  what: string,
  { id, source, setUp, blocked, part }: ProfileFixture,
  domains: readonly string[],
  calls: Pick<Parameters<typeof recordKey>[0], 'put' | 'wrong' | 'path'>,
): Key {
  return recordKey({
    name: `${what} of profile ${id}`,
    probes: domains.map((domain) => ({ source, qname: `www.${domain}` })),
    setUp,
    sql: `SELECT string_agg(verdict::text, ' ') FROM domain_rule WHERE profile_id = ${id}`,
    logged: {
      kind: 'domainRule',
      prefix: [id],
      text: (rows) => rows.map((row) => fromRow('domainRule', row).verdict).join(' ') || null,
    },
    none: domains.map(() => UPSTREAM_ADDRESS),
    draw: (_, before) => {
      const type = before?.['type'] === 'deny' ? 'allow' : 'deny';
      return {
        answers: domains.map(() => (type === 'deny' ? blocked : UPSTREAM_ADDRESS)),
        stored: domains.map(() => VERDICTS[type]).join(' '),
        body: { type, domains },
      };
    },
    ...calls,
    atInit: 'drawn',
    part: (body) => ({
      ...part,
      bw_lists: body === null ? [] : [{ profile_id: id, ...body }],
    }),
  });
}

const WHOLE_WEEK = [{ start: { day: 'monday', time: '00:00' }, end: { day: 6, time: '24:00' } }];

/** A profile whose schedule applies another profile, all week or never. */
function scheduleKey(index: number): Key {
  const fixture = profileFixture(4_000 + index, `127.6.0.${index + 1}`);
  const { id, source, setUp, blocked, part } = fixture;
  const path = `/profile/${id}/schedule`;
  const version = (stored: string) => {
    const [target, periods] = stored.split(' ').map(Number);
    const profile = FIXED_PROFILES.find((one) => one.id === target);
    return {
      stored,
      answers: [profile !== undefined && periods !== 0 ? profile.blocked : blocked],
    };
  };
  return recordKey({
    name: `schedule of profile ${id}`,
    probes: [{ source, qname: LISTED }],
    setUp: [...setUp, post(`/profile/${id}/bw_list`, { type: 'deny', domain: LISTED })],
    sql: `SELECT concat_ws(' ', target_profile_id, jsonb_array_length(periods)) FROM schedule WHERE profile_id = ${id}`,
    logged: loggedRecord('schedule', [id], ({ targetProfileId, periods }) => {
      return `${targetProfileId} ${periods.length}`;
    }),
    none: [blocked],
    draw: (random) => {
      const target_profile_id = random.pick(FIXED_PROFILES).id;
      const periods = random.chance(0.7) ? WHOLE_WEEK : [];
      const body = { target_profile_id, periods };
      return { ...version(`${target_profile_id} ${periods.length}`), body };
    },
    put: (body, before) => createOrChange(path, path, body, before === null),
    wrong: (body) => ({ ...body, target_profile_id: MISSING_PROFILE }),
    path: () => path,
    // Schedules are not part of the body. A schedule stays if its profiles stay.
    atInit: 'kept',
    part: () => ({ ...part, bw_lists: [{ profile_id: id, type: 'deny', domains: [LISTED] }] }),
    rewound: version,
  });
}

function createOrChange(collection: string, path: string, body: unknown, isNew: boolean): Call {
  if (isNew) return { ...post(collection, body), alreadyDone: 409 };
  return { method: 'PATCH', path, body };
}

const UNTIL = '2099-12-31T23:00:00Z';

/** An order for one of two domains, or none, as a client without a profile sees it. */
function orderKey(index: number): Key {
  const id = 7_000 + index;
  const path = `/orders/${id}`;
  const domains = ['a', 'b'].map((name) => `order-${name}-${index}.example`);
  /** The authority says which one is ordered. */
  const version = (stored: string) => ({
    answers: domains.map((domain) =>
      stored.split(' ')[0] === domain ? DEFAULT_PAGE_ADDRESS : UPSTREAM_ADDRESS,
    ),
    stored,
  });
  return recordKey({
    name: `order ${id}`,
    probes: domains.map((domain) => ({ source: `127.8.0.${index + 1}`, qname: `www.${domain}` })),
    setUp: [],
    sql: `SELECT concat_ws(' ', authority, extract(epoch FROM until)::bigint) FROM domain_order WHERE id = ${id}`,
    logged: loggedRecord('order', [id], ({ authority, until }) =>
      until === null ? authority : `${authority} ${until}`,
    ),
    none: domains.map(() => UPSTREAM_ADDRESS),
    draw: (random) => {
      const domain = random.pick(domains);
      const until = random.chance(0.5) ? UNTIL : null;
      const stored = until === null ? domain : `${domain} ${Date.parse(until) / 1_000}`;
      const texts = { authority: domain, reference: '12 O 345/26' };
      return { ...version(stored), body: { id, domain, until, ...texts } };
    },
    put: (body, before) => createOrChange('/orders/', path, body, before === null),
    wrong: (body) => ({ ...body, until: '2020-01-01T00:00:00Z' }),
    path: () => path,
    // Orders are not part of the body, and stay.
    atInit: 'kept',
    part: () => ({}),
    rewound: version,
  });
}

/** Far beyond the steps of clocks. */
const MINUTES = 20_000;

/** A profile whose grant turns its rule over, repeats it, or is gone. @param hashKey of the deployment. */
function grantKey(index: number, hashKey: string): Key {
  const fixture = profileFixture(5_000 + index, `127.9.0.${index + 1}`);
  const { id, source, setUp, blocked, part } = fixture;
  const domain = `grant-${index}.example`;
  const path = `/profile/${id}/grants`;
  const type = index % 2 === 0 ? 'deny' : 'allow';
  const answers = (verdict: string) => [verdict === 'deny' ? blocked : UPSTREAM_ADDRESS];
  return recordKey({
    name: `grant of profile ${id}`,
    probes: [{ source, qname: `www.${domain}` }],
    setUp: [...setUp, post(`/profile/${id}/bw_list`, { type, domain })],
    sql: `SELECT verdict FROM domain_grant WHERE profile_id = ${id}`,
    logged: loggedRecord('grant', [id], ({ verdict }) => String(verdict)),
    none: answers(type),
    draw: (random) => {
      const verdict = random.pick(['allow', 'deny'] as const);
      const body = { domain, verdict, minutes: MINUTES };
      return { answers: answers(verdict), stored: VERDICTS[verdict], body };
    },
    put: (body) => post(path, body),
    // A grant ends.
    wrong: (body) => ({ ...body, minutes: undefined }),
    path: () => `${path}/${hashDomain(domain, parseHashKey(hashKey))}`,
    atInit: 'gone',
    part: () => ({ ...part, bw_lists: [{ profile_id: id, type, domains: [domain] }] }),
  });
}

export const POLICY_KEYS = [settingsKey, ruleKey, batchKey, scheduleKey, orderKey, grantKey];
