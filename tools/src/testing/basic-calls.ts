type Call = readonly [request: string, body: unknown, answer: string];

interface Target {
  readonly url: string;
  readonly token: string;
}

const schedule = {
  target_profile_id: 2,
  periods: [{ start: { day: 'monday', time: '08:00' }, end: { day: 'monday', time: '12:00' } }],
};
const range = { ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047 };
const init = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };

/**
 * Calls that create, read, change and delete each resource, starting from an empty configuration. Each has the
 * expected status and a part of the expected body.
 */
const CALLS: readonly Call[] = [
  ['POST /init/', init, '204'],
  ['POST /blockpage/', { id: 1, type: 0 }, '201 "id":1'],
  ['PATCH /blockpage/1', { type: 1 }, '200 "type":1'],
  ['POST /profiles/', { profile: { id: 1, page_id: 1 }, cat_ids: [3, 2] }, '201 "cat_ids":[2,3]'],
  ['POST /profiles/', { profile: { id: 2 } }, '201 "page_id":null'],
  ['PATCH /profiles/1', { profile: { white_list_only: true } }, '200 "white_list_only":true'],
  ['GET /app_aware/application/', undefined, '200 "id":1'],
  ['POST /profile/1/app_aware', { app_id: 1, status: 'deny' }, '201 "deny"'],
  ['GET /profile/1/app_aware', undefined, '200 "deny"'],
  ['POST /profile/1/bw_list', { type: 'deny', domain: 'example.com' }, '201 "cat_id":2'],
  ['PATCH /profile/1/bw_list/example.com', { type: 'allow' }, '200 "cat_id":1'],
  ['POST /net/', { ip: '192.0.2.0', prefix_len: 24, profile_id: 1 }, '201 "prefix_len":24'],
  ['PATCH /net/3221225984', { profile_id: 2 }, '200 "profile_id":2'],
  ['POST /net6/', { ip: '2001:db8::', prefix_len: 32, profile_id: 1 }, '201 "prefix_len":32'],
  ['GET /net6/', undefined, '200 "2001:db8::"'],
  ['POST /napt/', { ...range, profile_id: 1 }, '201 "lower_port_bound":1024'],
  ['GET /napt/3325256705', undefined, '200 "upper_port_bound":2047'],
  ['POST /profile/1/schedule', schedule, '201 "monday"'],
  ['GET /profile/1/schedule', undefined, '200 "target_profile_id":2'],
  ['GET /profiles/1', undefined, '200 "app_id":1'],
  ['DELETE /profile/1/schedule', undefined, '204'],
  ['DELETE /napt/batch', [range], '204'],
  ['DELETE /net6/2001:db8::', undefined, '204'],
  ['DELETE /net/3221225984', undefined, '204'],
  ['DELETE /profile/1/bw_list/example.com', undefined, '204'],
  ['DELETE /profile/1/app_aware/1', undefined, '204'],
  ['POST /init/', { ...init, blockpages: [{ id: 7, type: 0 }] }, '204'],
  ['GET /blockpage/', undefined, '200 [{"id":7,"type":0}]'],
  ['GET /profiles/', undefined, '200 []'],
];

const rules = (app_id: number, status: string, type: string) => ({
  ...init,
  profiles: [{ profile: { id: 1 }, apps: [{ app_id, status }] }],
  bw_lists: [{ profile_id: 1, type, domains: ['example.com'] }],
});
const GET_APPS = 'GET /profile/1/app_aware';

/** Each a write, and reads that show it. */
const SHARED_CALLS: readonly (readonly [Call, ...Call[]])[] = [
  [
    ['POST /init/', rules(1, 'allow', 'deny'), '204'],
    [GET_APPS, undefined, '200 "allow"'],
  ],
  [
    ['POST /init/', rules(1, 'deny', 'allow'), '204'],
    [GET_APPS, undefined, '200 "deny"'],
  ],
  [
    ['POST /profile/1/app_aware', { app_id: 1, status: 'allow' }, '201 "allow"'],
    [GET_APPS, undefined, '200 "allow"'],
    ['GET /profiles/1', undefined, '200 "allow"'],
  ],
  [
    ['PATCH /profiles/1', { apps: [{ app_id: 2 }] }, '200 "deny"'],
    [GET_APPS, undefined, '200 "app_id":2,"status":"deny"'],
  ],
];

/**
 * Makes these calls as a back office does. They replace the configuration.
 * @returns the calls with an unexpected answer, each with that answer.
 */
export async function playBasicCalls(target: Target): Promise<string[]> {
  const faults: string[] = [];
  for (const expected of CALLS) faults.push(...(await play(target, expected)));
  return faults;
}

/**
 * Changes rules through one of two control planes of a database and reads them through the other, and then the other
 * way round. The calls replace the configuration.
 * @returns the calls with an unexpected answer, each with that answer.
 */
export async function playSharedCalls(first: Target, second: Target): Promise<string[]> {
  const faults: string[] = [];
  for (const [writer, reader] of [
    [first, second],
    [second, first],
    [first, second],
  ] as const) {
    for (const [write, ...reads] of SHARED_CALLS) {
      faults.push(...(await play(writer, write)));
      for (const read of reads) faults.push(...(await play(reader, read)));
    }
  }
  return faults;
}

async function play(target: Target, [request, body, expected]: Call): Promise<string[]> {
  const answer = await call(target, request, body);
  const [status = '', part = ''] = expected.split(/ (.*)/, 2);
  const isRight = answer.startsWith(status) && answer.includes(part);
  return isRight ? [] : [`${request}: ${answer.slice(0, 200)}`];
}

async function call({ url, token }: Target, request: string, body: unknown): Promise<string> {
  const [method = '', path = ''] = request.split(' ', 2);
  const response = await fetch(new URL(path, url), {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return `${response.status} ${await response.text()}`;
}
