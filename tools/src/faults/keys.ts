import { LAST_PAGE, pageAddress } from './deployment.js';
import { type Appearance, KeyHistory } from './history.js';
import type { Random } from './random.js';
import { UPSTREAM_ADDRESS } from './upstream.js';

/** A query that shows which version of a key is in force. */
export interface Probe {
  readonly source: string;
  readonly qname: string;
}

/** One call of the management API that makes the next version of a key, or must be refused. */
export interface Step {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly appearance: Appearance;
  /** What `Key.sql` finds afterwards. */
  readonly stored?: string | null;
  readonly refusal?: boolean;
  /** Status that says, after an attempt without an answer, that this attempt had succeeded. */
  readonly alreadyDone?: number;
}

/** What one writer changes again and again, and how it can be seen. */
export interface Key {
  readonly name: string;
  readonly history: KeyHistory;
  readonly probes: readonly Probe[];
  /** Calls that make version 0. */
  readonly setUp: readonly Step[];
  /** Selects one text (or nothing) that tells the version in the database. */
  readonly sql: string;
  next(random: Random): Step;
}

/** Versions take these pages in turn; rollbacks by a whole turn do not occur in a run. */
const LAST_VERSION_PAGE = 239;
/** Profiles that do not change have the pages behind. */
const FIXED_PROFILES = 10;
const FIRST_FIXED_PROFILE = 900;
const FIRST_FIXED_PAGE = LAST_VERSION_PAGE + 1;
/** Has an address, but is never created: a profile that refers to it is refused. */
const MISSING_PAGE = LAST_PAGE;
const MISSING_PROFILE = 999_999;
const CATEGORY = 12;

/** `verdict` of a stored domain rule. */
const VERDICTS = { allow: '1', deny: '2' } as const;

const LISTED = 'listed.example';
const PLAIN = 'plain.example';
const IN_CATEGORY = 'www.casino.example.com';

export const PAGES = Array.from({ length: LAST_PAGE - 1 }, (_, i) => i + 1);

/** What never changes: pages, and profiles with a page each that block one name. */
export const FIXED_SETUP: readonly Step[] = [
  ...PAGES.map((id) => post('/blockpage/', { id, type: 1 })),
  ...Array.from({ length: FIXED_PROFILES }, (_, i) => [
    post('/profiles/', { profile: { id: FIRST_FIXED_PROFILE + i, page_id: FIRST_FIXED_PAGE + i } }),
    post(`/profile/${FIRST_FIXED_PROFILE + i}/bw_list`, { type: 'deny', domain: LISTED }),
  ]).flat(),
];

/** Keys of every kind, `count` of each, each with subscribers of its own. */
export function makeKeys(count: number): Key[] {
  return Array.from({ length: count }, (_, i) => [
    settingsKey(i),
    ruleKey(i),
    batchKey(i),
    networkKey(i),
  ]).flat();
}

/** A profile whose page, options and categories all change in one call: an answer that mixes two versions fits neither. */
function settingsKey(index: number): Key {
  const id = 100 + index;
  const source = `127.1.0.${index + 1}`;
  const appearance = (
    page: number,
    empty: boolean,
    listOnly: boolean,
    category: boolean,
  ): Appearance => {
    const blocked = empty ? 'empty' : pageAddress(page);
    return [
      blocked,
      listOnly ? blocked : UPSTREAM_ADDRESS,
      listOnly || category ? blocked : UPSTREAM_ADDRESS,
    ];
  };
  const history = new KeyHistory(appearance(1, false, false, false));
  return {
    name: `profile ${id}`,
    history,
    probes: [LISTED, PLAIN, IN_CATEGORY].map((qname) => ({ source, qname })),
    setUp: [
      post('/profiles/', { profile: { id, page_id: 1 } }),
      post(`/profile/${id}/bw_list`, { type: 'deny', domain: LISTED }),
      post('/net/', { ip: source, profile_id: id }),
    ],
    sql: `SELECT concat_ws(' ', page_id, empty_dns_answer, white_list_only, category_ids) FROM profile WHERE id = ${id}`,
    next: (random) => {
      const refusal = random.chance(0.1);
      const page = refusal ? MISSING_PAGE : (history.requested % LAST_VERSION_PAGE) + 1;
      const [empty, listOnly, category] = [
        random.chance(0.1),
        random.chance(0.5),
        random.chance(0.5),
      ];
      return {
        method: 'PATCH',
        path: `/profiles/${id}`,
        body: {
          profile: { page_id: page, empty_dns_answer: empty, white_list_only: listOnly },
          cat_ids: category ? [CATEGORY] : [],
        },
        appearance: appearance(page, empty, listOnly, category),
        stored: [
          page,
          sqlBoolean(empty),
          sqlBoolean(listOnly),
          category ? `{${CATEGORY}}` : '{}',
        ].join(' '),
        refusal,
      };
    },
  };
}

/** One domain of a list, added, turned and removed. */
function ruleKey(index: number): Key {
  const { id, source, setUp, blocked } = listOwner(200 + index, `127.2.0.${index + 1}`);
  const domain = `rule-${index}.example`;
  let state: 'absent' | 'allow' | 'deny' = 'absent';
  const path = `/profile/${id}/bw_list/${domain}`;
  return {
    name: `domain rule of profile ${id}`,
    history: new KeyHistory([UPSTREAM_ADDRESS]),
    probes: [{ source, qname: `www.${domain}` }],
    setUp,
    sql: rulesSql(id),
    next: (random) => {
      const turned = state === 'deny' ? 'allow' : 'deny';
      const appearance = [turned === 'deny' ? blocked : UPSTREAM_ADDRESS];
      if (state !== 'absent' && random.chance(0.1)) {
        const body = { type: turned, profile_id: MISSING_PROFILE };
        return { method: 'PATCH', path, body, appearance, refusal: true };
      }
      if (state !== 'absent' && random.chance(0.3)) {
        state = 'absent';
        const gone = { appearance: [UPSTREAM_ADDRESS], stored: null, alreadyDone: 404 };
        return { method: 'DELETE', path, ...gone };
      }
      const isNew = state === 'absent';
      state = turned;
      const after = { appearance, stored: VERDICTS[turned] };
      if (isNew) return { ...post(`/profile/${id}/bw_list`, { type: turned, domain }), ...after };
      return { method: 'PATCH', path, body: { type: turned }, ...after };
    },
  };
}

/** Several domains that change sides in one call: whoever sees one of them changed must see all of them changed. */
function batchKey(index: number): Key {
  const { id, source, setUp, blocked } = listOwner(300 + index, `127.3.0.${index + 1}`);
  const domains = ['a', 'b', 'c'].map((name) => `${name}-${index}.example`);
  const path = `/profile/${id}/bw_list/batch`;
  let deny = false;
  return {
    name: `domain batch of profile ${id}`,
    history: new KeyHistory(domains.map(() => UPSTREAM_ADDRESS)),
    probes: domains.map((qname) => ({ source, qname })),
    setUp,
    sql: rulesSql(id),
    next: (random) => {
      const turned = deny ? 'allow' : 'deny';
      const appearance = domains.map(() => (turned === 'deny' ? blocked : UPSTREAM_ADDRESS));
      if (random.chance(0.1)) {
        const body = { type: turned, domains: [...domains, 'no domain.example'] };
        return { ...post(path, body), appearance, refusal: true };
      }
      deny = !deny;
      const stored = domains.map(() => VERDICTS[turned]).join(' ');
      return { ...post(path, { type: turned, domains }), appearance, stored };
    },
  };
}

/** A subscriber that moves between the profiles that do not change. */
function networkKey(index: number): Key {
  const source = `127.4.0.${index + 1}`;
  const path = `/net/${((127 * 256 + 4) * 256 + 0) * 256 + index + 1}`;
  let present = false;
  return {
    name: `network ${source}`,
    history: new KeyHistory([UPSTREAM_ADDRESS]),
    probes: [{ source, qname: LISTED }],
    setUp: [],
    sql: `SELECT profile_id FROM ipv4_network WHERE address = '${source}'`,
    next: (random) => {
      const which = random.integer(0, FIXED_PROFILES - 1);
      const profile_id = FIRST_FIXED_PROFILE + which;
      const appearance = [pageAddress(FIRST_FIXED_PAGE + which)];
      if (random.chance(0.1)) {
        const body = { ip: source, profile_id: MISSING_PROFILE };
        const call = present ? { method: 'PATCH' as const, path, body } : post('/net/', body);
        return { ...call, appearance: ['nothing'], refusal: true };
      }
      const after = { appearance, stored: String(profile_id) };
      if (!present) {
        present = true;
        return { ...post('/net/', { ip: source, profile_id }), ...after, alreadyDone: 409 };
      }
      if (random.chance(0.3)) {
        present = false;
        const gone = { appearance: [UPSTREAM_ADDRESS], stored: null, alreadyDone: 404 };
        return { method: 'DELETE', path, ...gone };
      }
      return { method: 'PATCH', path, body: { profile_id }, ...after };
    },
  };
}

/** A profile with a page of its own and one subscriber. */
function listOwner(
  id: number,
  source: string,
): {
  id: number;
  source: string;
  blocked: string;
  setUp: Step[];
} {
  const page = FIRST_FIXED_PAGE;
  const setUp = [
    post('/profiles/', { profile: { id, page_id: page } }),
    post('/net/', { ip: source, profile_id: id }),
  ];
  return { id, source, blocked: pageAddress(page), setUp };
}

function post(path: string, body: unknown): Step {
  return { method: 'POST', path, body, appearance: [] };
}

function rulesSql(profileId: number): string {
  return `SELECT string_agg(verdict::text, ' ') FROM domain_rule WHERE profile_id = ${profileId}`;
}

function sqlBoolean(value: boolean): string {
  return value ? 't' : 'f';
}
