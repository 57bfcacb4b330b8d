import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness } from '../../testing/harness.js';
import { rawRequest } from '../../testing/raw-request.js';

/** Invalid values of one field, each with the type of its fault. */
const NO_ID: readonly (readonly [unknown, string])[] = [
  ['7', 'int_type'],
  [7.5, 'int_type'],
  [true, 'int_type'],
  [null, 'int_type'],
  [[7], 'int_type'],
  [-1, 'greater_than_equal'],
  [2_147_483_648, 'less_than_equal'],
];
const NO_FLAG: typeof NO_ID = [
  [1, 'bool_type'],
  ['true', 'bool_type'],
  [null, 'bool_type'],
];
const NO_STATUS: typeof NO_ID = [
  ['block', 'enum'],
  ['Allow', 'enum'],
  [1, 'string_type'],
  [null, 'string_type'],
];
const NO_PORT: typeof NO_ID = [
  ['80', 'int_type'],
  [0.5, 'int_type'],
  [-1, 'greater_than_equal'],
  [65_536, 'less_than_equal'],
];
const NO_IPV4: typeof NO_ID = [
  ['192.0.2', 'value_error'],
  ['192.0.2.01', 'value_error'],
  ['192.0.2.256', 'value_error'],
  ['192.0.2.1/24', 'value_error'],
  ['2001:db8::1', 'value_error'],
  [3221225985, 'string_type'],
  [null, 'string_type'],
];
const NO_IPV6: typeof NO_ID = [
  ['192.0.2.1', 'value_error'],
  ['::ffff:192.0.2.1', 'value_error'],
  ['2001:db8::1%eth0', 'value_error'],
  ['2001:db8::/32', 'value_error'],
  ['2001:db8:::1', 'value_error'],
  [1, 'string_type'],
];
const NO_DOMAIN: typeof NO_ID = [
  ['', 'value_error'],
  ['*.example.com', 'value_error'],
  ['https://example.com', 'value_error'],
  ['192.0.2.1', 'value_error'],
  ['a..example.com', 'value_error'],
  ['-a.example.com', 'value_error'],
  [`${'a'.repeat(64)}.example.com`, 'value_error'],
  [5, 'string_type'],
  [null, 'string_type'],
];
const NO_LIST: typeof NO_ID = [
  [{}, 'list_type'],
  ['a', 'list_type'],
  [null, 'list_type'],
];
const NO_OBJECT: typeof NO_ID = [
  [[], 'object_type'],
  [7, 'object_type'],
  [null, 'object_type'],
];
const NO_TIME: typeof NO_ID = [
  ['24:30', 'value_error'],
  ['7:00', 'value_error'],
  ['12:15', 'value_error'],
  ['12', 'value_error'],
  [1200, 'string_type'],
];
const NO_DAY: typeof NO_ID = [
  ['Monday', 'enum'],
  ['mon', 'enum'],
  [7, 'less_than_equal'],
  [-1, 'greater_than_equal'],
  [1.5, 'int_type'],
  [null, 'string_type'],
];

type Case = readonly [request: string, body: unknown, faults: readonly string[]];

/** Puts each invalid value into a valid body. */
function at(request: string, body: object, place: string, values: typeof NO_ID): Case[] {
  const loc = place.split('.');
  return values.map(([value, type]): Case => {
    const copy = structuredClone(body);
    let inner = copy as Record<string, unknown>;
    for (const step of loc.slice(0, -1)) inner = inner[step] as Record<string, unknown>;
    inner[loc.at(-1)!] = value;
    return [request, copy, [`body.${place}: ${type}`]];
  });
}

const PROFILE = {
  profile: { id: 5, page_id: null, white_list_only: false },
  cat_ids: [1],
  apps: [{ app_id: 3, status: 'allow' }],
};
const PERIOD = { start: { day: 0, time: '10:00' }, end: { day: 1, time: '11:00' } };
const SCHEDULE = { target_profile_id: 2, periods: [PERIOD] };
const NET = { ip: '192.0.2.9', profile_id: 1, prefix_len: 32 };
const NET6 = { ip: '2001:db8::9', profile_id: 1, prefix_len: 128 };
const NAPT = { ip: '198.51.100.9', lower_port_bound: 5, upper_port_bound: 9, profile_id: 1 };
const KEY = { ip: '198.51.100.9', lower_port_bound: 5, upper_port_bound: 9 };
const RULE = { type: 'allow', domain: 'example.com' };
const RULES = { type: 'allow', domains: ['example.com'] };
const range = (low: number, high: number): typeof NO_ID => [
  [low - 1, 'greater_than_equal'],
  [high + 1, 'less_than_equal'],
  [String(low), 'int_type'],
];

const SINGLE: readonly Case[] = [
  ...at('POST /blockpage/', { id: 9, type: 0 }, 'id', NO_ID),
  ...at('POST /blockpage/', { id: 9, type: 0 }, 'type', [
    [2, 'enum'],
    ['0', 'int_type'],
    [null, 'int_type'],
  ]),
  ...at('PATCH /blockpage/7', { type: 0 }, 'type', [
    [-1, 'enum'],
    [0.5, 'int_type'],
  ]),
  ...at('PATCH /blockpage/7', { type: 0, id: 7 }, 'id', [
    [8, 'value_error'],
    ['7', 'int_type'],
  ]),
  ...at('POST /profiles/', PROFILE, 'profile', NO_OBJECT),
  ...at('POST /profiles/', PROFILE, 'profile.id', NO_ID),
  ...at('POST /profiles/', PROFILE, 'profile.page_id', [
    ['7', 'int_type'],
    [-1, 'greater_than_equal'],
    [9, 'reference'],
  ]),
  ...at('POST /profiles/', PROFILE, 'profile.white_list_only', NO_FLAG),
  ...at('POST /profiles/', PROFILE, 'profile.empty_dns_answer', NO_FLAG),
  ...at('POST /profiles/', PROFILE, 'profile.appaware_priority_over_bwlists', NO_FLAG),
  ...at('POST /profiles/', PROFILE, 'profile.white_list', [[true, 'extra_forbidden']]),
  ...at('POST /profiles/', PROFILE, 'cat_ids', NO_LIST),
  ...at('POST /profiles/', PROFILE, 'cat_ids.0', NO_ID),
  ...at('POST /profiles/', PROFILE, 'apps', NO_LIST),
  ...at('POST /profiles/', PROFILE, 'apps.0', NO_OBJECT),
  ...at('POST /profiles/', PROFILE, 'apps.0.status', NO_STATUS),
  ...at('POST /profiles/', PROFILE, 'apps.0.app_id', [...NO_ID, [99, 'reference']]),
  ...at('PATCH /profiles/1', { profile: {} }, 'profile', NO_OBJECT),
  ...at('PATCH /profiles/1', { profile: {} }, 'profile.id', [[2, 'value_error']]),
  ...at('PATCH /profiles/1', {}, 'cat_ids', NO_LIST),
  ...at('PATCH /profiles/1', {}, 'id', [[1, 'extra_forbidden']]),
  ...at('POST /profile/1/app_aware', { app_id: 3 }, 'app_id', [...NO_ID, [99, 'reference']]),
  ...at('POST /profile/1/app_aware', { app_id: 3 }, 'status', NO_STATUS),
  ...at('POST /profile/1/app_aware/batch', { app_ids: [3] }, 'app_ids', NO_LIST),
  ...at('POST /profile/1/app_aware/batch', { app_ids: [3] }, 'app_ids.0', [
    ...NO_ID,
    [99, 'reference'],
  ]),
  ...at('POST /profile/1/app_aware/batch', { app_ids: [3] }, 'status', NO_STATUS),
  ...at('POST /profile/1/bw_list', RULE, 'type', NO_STATUS),
  ...at('POST /profile/1/bw_list', RULE, 'domain', NO_DOMAIN),
  ...at('POST /profile/1/bw_list/batch', RULES, 'domains', NO_LIST),
  ...at('POST /profile/1/bw_list/batch', RULES, 'domains.0', NO_DOMAIN),
  ...at('PATCH /profile/1/bw_list/example.com', RULE, 'domain', [
    ...NO_DOMAIN,
    ['example.net', 'value_error'],
  ]),
  ...at('PATCH /profile/1/bw_list/example.com', RULE, 'profile_id', [
    [2, 'value_error'],
    ['1', 'int_type'],
  ]),
  ...at('POST /net/', NET, 'ip', NO_IPV4),
  ...at('POST /net/', NET, 'profile_id', [...NO_ID, [99, 'reference']]),
  ...at('POST /net/', NET, 'prefix_len', range(10, 32)),
  ...at('PATCH /net/3221225985', {}, 'prefix_len', range(10, 32)),
  ...at('PATCH /net/3221225985', {}, 'profile_id', [
    [99, 'reference'],
    [null, 'int_type'],
  ]),
  ...at('POST /net6/', NET6, 'ip', NO_IPV6),
  ...at('POST /net6/', NET6, 'prefix_len', range(16, 128)),
  ...at('PATCH /net6/2001:db8::1', {}, 'prefix_len', range(16, 128)),
  ...at('PATCH /net6/2001:db8::1', {}, 'profile_id', [[99, 'reference']]),
  ...at('POST /napt/', NAPT, 'ip', NO_IPV4),
  ...at('POST /napt/', NAPT, 'lower_port_bound', [...NO_PORT, [7.5, 'int_type']]),
  ...at('POST /napt/', NAPT, 'upper_port_bound', [...NO_PORT, [4, 'greater_than_equal']]),
  ...at('POST /napt/', NAPT, 'profile_id', [...NO_ID, [99, 'reference']]),
  ...at('POST /napt/batch', [NAPT], '0', NO_OBJECT),
  ...at('POST /napt/batch', [NAPT], '0.profile_id', [
    [99, 'reference'],
    ['1', 'int_type'],
  ]),
  ...at('POST /napt/batch', [NAPT, NAPT], '1.ip', [['198.51.100.9', 'duplicate']]).map(
    ([request, body]): Case => [request, body, ['body.1: duplicate']],
  ),
  ...at('DELETE /napt/batch', [KEY], '0.profile_id', [[1, 'extra_forbidden']]),
  ...at('DELETE /napt/batch', [KEY], '0.lower_port_bound', NO_PORT),
  ...at('PATCH /napt/3325256705/0/99', {}, 'lower_port_bound', NO_PORT),
  ...at('POST /profile/1/schedule', SCHEDULE, 'target_profile_id', [
    ...NO_ID,
    [99, 'reference'],
    [1, 'value_error'],
  ]),
  ...at('POST /profile/1/schedule', SCHEDULE, 'periods', NO_LIST),
  ...at('POST /profile/1/schedule', SCHEDULE, 'periods.0', NO_OBJECT),
  ...at('POST /profile/1/schedule', SCHEDULE, 'periods.0.start', NO_OBJECT),
  ...at('POST /profile/1/schedule', SCHEDULE, 'periods.0.start.day', NO_DAY),
  ...at('POST /profile/1/schedule', SCHEDULE, 'periods.0.end.time', NO_TIME),
  ...at('POST /profile/1/schedule', SCHEDULE, 'periods.0.end', [
    [{ day: 'monday', time: '10:00' }, 'value_error'],
  ]),
];

/** Bodies with several faults or with missing fields. */
const WHOLE: readonly Case[] = [
  ['POST /blockpage/', {}, ['body.id: missing', 'body.type: missing']],
  ['POST /blockpage/', [], ['body: object_type']],
  ['PATCH /blockpage/x', {}, ['body.type: missing', 'path.page_id: int_type']],
  ['POST /profiles/', {}, ['body.profile: missing']],
  ['POST /profiles/', { profile: {} }, ['body.profile.id: missing']],
  [
    'POST /profiles/',
    { profile: { id: 'x', page: 1 }, cat_ids: [1, 'x', -1], apps: [{}, 7] },
    [
      'body.apps.0.app_id: missing',
      'body.apps.1: object_type',
      'body.cat_ids.1: int_type',
      'body.cat_ids.2: greater_than_equal',
      'body.profile.id: int_type',
      'body.profile.page: extra_forbidden',
    ],
  ],
  [
    'POST /profiles/',
    { profile: { id: 6, page_id: 99 }, apps: [{ app_id: 3 }, { app_id: 99 }, { app_id: 3 }] },
    [
      'body.apps.1.app_id: reference',
      'body.apps.2.app_id: duplicate',
      'body.profile.page_id: reference',
    ],
  ],
  ['POST /profile/1/app_aware', {}, ['body.app_id: missing']],
  ['POST /profile/1/app_aware/batch', {}, ['body.app_ids: missing']],
  ['POST /profile/1/bw_list', {}, ['body.domain: missing', 'body.type: missing']],
  ['POST /profile/1/bw_list/batch', {}, ['body.domains: missing', 'body.type: missing']],
  ['PATCH /profile/1/bw_list/example.com', {}, ['body.type: missing']],
  [
    'PATCH /profile/x/bw_list/*',
    { type: 1 },
    ['body.type: string_type', 'path.domain: value_error', 'path.profile_id: int_type'],
  ],
  ['POST /net/', {}, ['body.ip: missing', 'body.profile_id: missing']],
  ['PATCH /net/4294967296', {}, ['path.int_ip: less_than_equal']],
  ['PATCH /net/-1', {}, ['path.int_ip: greater_than_equal']],
  ['POST /net6/', {}, ['body.ip: missing', 'body.profile_id: missing']],
  ['PATCH /net6/::ffff:192.0.2.1', {}, ['path.ipv6: value_error']],
  ['POST /napt/', {}, ['body.ip: missing', 'body.profile_id: missing']],
  ['POST /napt/batch', {}, ['body: list_type']],
  ['POST /napt/batch', [{}], ['body.0.ip: missing', 'body.0.profile_id: missing']],
  [
    'PATCH /napt/3325256705/0/99',
    { lower_port_bound: 100 },
    ['body.upper_port_bound: greater_than_equal'],
  ],
  [
    'PATCH /napt/x/0/65536',
    {},
    ['path.int_ip: int_type', 'path.upper_port_bound: less_than_equal'],
  ],
  ['DELETE /napt/batch', {}, ['body: list_type']],
  ['DELETE /napt/batch', [{}], ['body.0.ip: missing']],
  ['POST /profile/1/schedule', {}, ['body.periods: missing', 'body.target_profile_id: missing']],
  [
    'POST /profile/1/schedule',
    { target_profile_id: 2, periods: [{}, { start: {}, end: { day: 8, time: 'x' } }] },
    [
      'body.periods.0.end: missing',
      'body.periods.0.start: missing',
      'body.periods.1.end.day: less_than_equal',
      'body.periods.1.end.time: value_error',
      'body.periods.1.start.day: missing',
      'body.periods.1.start.time: missing',
    ],
  ],
];

describe('an invalid body', () => {
  let harness: Harness;
  let before: unknown;

  beforeAll(async () => {
    harness = await startHarness();
    const { status } = await harness.call('POST', '/init/', {
      blockpages: [{ id: 7, type: 1 }],
      profiles: [{ profile: { id: 1 } }, { profile: { id: 2 } }],
      bw_lists: [{ profile_id: 1, type: 'deny', domains: ['example.com'] }],
      napts: [{ ip: '198.51.100.1', upper_port_bound: 99, profile_id: 1 }],
      nets: [{ ip: '192.0.2.1', profile_id: 1 }],
      nets6: [{ ip: '2001:db8::1', profile_id: 1 }],
    });
    expect(status).toBe(204);
    before = await harness.sql('SELECT revision, digest FROM config_head');
  });
  afterAll(async () => {
    expect(await harness.sql('SELECT revision, digest FROM config_head')).toEqual(before);
    await harness.stop();
  });

  it.each([...SINGLE, ...WHOLE].map((one, i) => [i, ...one] as const))(
    'is answered 422 with the location of each fault (%i): %s %j',
    async (_i, request, body, faults) => {
      const [method, path] = request.split(' ') as [string, string];
      const answer = await harness.call(method, path, body);
      expect([answer.status, faultsOf(answer)]).toEqual([422, faults.toSorted()]);
    },
  );

  it.each([
    ['nested too deeply', '/napt/batch', '['.repeat(1_000)],
    ['an object of too many fields', '/blockpage/', `{${'"a":0,'.repeat(1_000)}"id":1}`],
    ['too many objects', '/napt/batch', `[${'{},'.repeat(500_000)}{}]`],
  ])('that would take long to parse is one fault: %s', async (_what, path, body) => {
    const answer = await rawRequest(harness.baseUrl, {
      method: 'POST',
      path,
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body,
    });
    expect([answer.status, faultsOf(answer)]).toEqual([422, ['body: too_long']]);
  });

  it('is tested in more than two hundred variants', () => {
    expect(SINGLE.length + WHOLE.length).toBeGreaterThan(200);
  });
});
