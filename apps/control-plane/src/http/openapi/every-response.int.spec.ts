import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startHarness, TOKEN } from '../../testing/harness.js';
import { holdCall } from '../../testing/hold-call.js';
import { holdList } from '../../testing/hold-list.js';
import { openApiChecker } from '../../testing/openapi-checker.js';
import { rawRequest } from '../../testing/raw-request.js';
import { type Answer } from '../../testing/response.js';
import { startTcpProxy } from '../../testing/tcp-proxy.js';

/** The path of a request, and its body if it has one. */
type Sent = readonly [path: string, body?: unknown];

/** The requests of an endpoint: one that succeeds, and one for each of its own errors. */
interface Requests {
  readonly success: Sent;
  readonly dryRun?: Sent;
  readonly 404?: Sent;
  readonly 409?: Sent;
}

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
/** The configuration before each request. */
const STORED_ORDER = {
  blockpages: [
    { id: 7, type: 1 },
    { id: 8, type: 0 },
  ],
  profiles: [
    { profile: { id: 1, page_id: 7 }, apps: [{ app_id: 3, status: 'deny' }] },
    { profile: { id: 2 } },
  ],
  bw_lists: [{ profile_id: 1, type: 'deny', domains: ['example.com'] }],
  napts: [
    { ip: '198.51.100.1', lower_port_bound: 0, upper_port_bound: 99, profile_id: 1 },
    { ip: '198.51.100.1', lower_port_bound: 100, upper_port_bound: 199, profile_id: 1 },
  ],
  nets: [
    { ip: '192.0.2.1', profile_id: 1 },
    { ip: '192.0.2.2', profile_id: 1 },
  ],
  nets6: [
    { ip: '2001:db8::1', profile_id: 1 },
    { ip: '2001:db8::2', profile_id: 1 },
  ],
};
const SCHEDULE = {
  target_profile_id: 2,
  periods: [{ start: { day: 'friday', time: '18:00' }, end: { day: 0, time: '06:00' } }],
};
const net = (ip: string) => ({ ip, profile_id: 1 });
const napt = (lower_port_bound: number, upper_port_bound: number) => ({
  ip: '198.51.100.1',
  lower_port_bound,
  upper_port_bound,
});
const rule = { type: 'allow', domain: 'example.net' };
const ORDER = { domain: 'example.net', authority: 'a court', reference: '1 O 2/26' };
const grant = { domain: 'example.com', verdict: 'allow', minutes: 30 };
/** The id of a grant of example.com under the key of the harness. */
const GRANT = 2_447_438_395_659_416;
const HELD = 'https://lists.example/held.txt';
const ACCEPTED = 'https://lists.example/accepted.txt';

const REQUESTS: Readonly<Record<string, Requests>> = {
  'POST /init/': { success: ['/init/', EMPTY], dryRun: ['/init/?dry_run=true', EMPTY] },
  'GET /profiles/': { success: ['/profiles/'] },
  'GET /explain/': { success: ['/explain/?client=192.0.2.1&domain=a.example'] },
  'GET /resolvers/': { success: ['/resolvers/'] },
  'POST /profiles/': {
    success: ['/profiles/', { profile: { id: 3 } }],
    409: ['/profiles/', { profile: { id: 1 } }],
  },
  'GET /profiles/{profile_id}': { success: ['/profiles/1'], 404: ['/profiles/9'] },
  'PATCH /profiles/{profile_id}': {
    success: ['/profiles/1', { cat_ids: [12] }],
    404: ['/profiles/9', {}],
  },
  'GET /app_aware/application/': { success: ['/app_aware/application/'] },
  'GET /profile/{profile_id}/app_aware': {
    success: ['/profile/1/app_aware'],
    404: ['/profile/9/app_aware'],
  },
  'POST /profile/{profile_id}/app_aware': {
    success: ['/profile/1/app_aware', { app_id: 4, status: 'allow' }],
    404: ['/profile/9/app_aware', { app_id: 4 }],
  },
  'POST /profile/{profile_id}/app_aware/batch': {
    success: ['/profile/1/app_aware/batch', { app_ids: [3, 4], status: 'allow' }],
    404: ['/profile/9/app_aware/batch', { app_ids: [] }],
  },
  'DELETE /profile/{profile_id}/app_aware/{app_aware_id}': {
    success: ['/profile/1/app_aware/3'],
    404: ['/profile/1/app_aware/4'],
  },
  'GET /blockpage/': { success: ['/blockpage/'] },
  'POST /blockpage/': {
    success: ['/blockpage/', { id: 9, type: 0 }],
    409: ['/blockpage/', { id: 7, type: 0 }],
  },
  'GET /blockpage/{page_id}': { success: ['/blockpage/7'], 404: ['/blockpage/9'] },
  'PATCH /blockpage/{page_id}': {
    success: ['/blockpage/7', { type: 0 }],
    404: ['/blockpage/9', { type: 0 }],
  },
  'DELETE /blockpage/{page_id}': {
    success: ['/blockpage/8'],
    404: ['/blockpage/9'],
    409: ['/blockpage/7'],
  },
  'POST /profile/{profile_id}/bw_list': {
    success: ['/profile/1/bw_list', rule],
    404: ['/profile/9/bw_list', rule],
  },
  'POST /profile/{profile_id}/bw_list/batch': {
    success: ['/profile/1/bw_list/batch', { type: 'deny', domains: ['example.net'] }],
    404: ['/profile/9/bw_list/batch', { type: 'deny', domains: [] }],
  },
  'PATCH /profile/{profile_id}/bw_list/{domain}': {
    success: ['/profile/1/bw_list/example.com', { type: 'allow' }],
    404: ['/profile/1/bw_list/example.net', { type: 'allow' }],
  },
  'DELETE /profile/{profile_id}/bw_list/{domain}': {
    success: ['/profile/1/bw_list/example.com'],
    404: ['/profile/1/bw_list/example.net'],
  },
  'GET /net/': { success: ['/net/'] },
  'POST /net/': { success: ['/net/', net('192.0.2.9')], 409: ['/net/', net('192.0.2.1')] },
  'GET /net/{int_ip}': { success: ['/net/3221225985'], 404: ['/net/1'] },
  'PATCH /net/{int_ip}': {
    success: ['/net/3221225985', { profile_id: 2 }],
    404: ['/net/1', {}],
    409: ['/net/3221225985', { ip: '192.0.2.2' }],
  },
  'DELETE /net/{int_ip}': { success: ['/net/3221225985'], 404: ['/net/1'] },
  'GET /net6/': { success: ['/net6/'] },
  'POST /net6/': { success: ['/net6/', net('2001:db8::9')], 409: ['/net6/', net('2001:db8::1')] },
  'GET /net6/{ipv6}': { success: ['/net6/2001:db8::1'], 404: ['/net6/::1'] },
  'PATCH /net6/{ipv6}': {
    success: ['/net6/2001:db8::1', { profile_id: 2 }],
    404: ['/net6/::1', {}],
    409: ['/net6/2001:db8::1', { ip: '2001:db8::2' }],
  },
  'DELETE /net6/{ipv6}': { success: ['/net6/2001:db8::1'], 404: ['/net6/::1'] },
  'POST /napt/': {
    success: ['/napt/', { ...napt(300, 399), profile_id: 1 }],
    409: ['/napt/', { ...napt(50, 150), profile_id: 1 }],
  },
  'POST /napt/batch': {
    success: ['/napt/batch', [{ ...napt(300, 399), profile_id: 1 }]],
    409: ['/napt/batch', [{ ...napt(0, 99), profile_id: 1 }]],
  },
  'GET /napt/{int_ip}': { success: ['/napt/3325256705'] },
  'GET /napt/{int_ip}/{lower_port_bound}/{upper_port_bound}': {
    success: ['/napt/3325256705/0/99'],
    404: ['/napt/3325256705/0/98'],
  },
  'PATCH /napt/{int_ip}/{lower_port_bound}/{upper_port_bound}': {
    success: ['/napt/3325256705/0/99', { upper_port_bound: 98 }],
    404: ['/napt/3325256705/0/98', {}],
    409: ['/napt/3325256705/0/99', { upper_port_bound: 150 }],
  },
  'DELETE /napt/{int_ip}/{lower_port_bound}/{upper_port_bound}': {
    success: ['/napt/3325256705/0/99'],
    404: ['/napt/3325256705/0/98'],
  },
  'DELETE /napt/batch': {
    success: ['/napt/batch', [napt(0, 99), napt(100, 199)]],
    404: ['/napt/batch', [napt(0, 99), napt(0, 98)]],
  },
  'GET /profile/{profile_id}/schedule': {
    success: ['/profile/1/schedule'],
    404: ['/profile/2/schedule'],
  },
  'POST /profile/{profile_id}/schedule': {
    success: ['/profile/2/schedule', { ...SCHEDULE, target_profile_id: 1 }],
    404: ['/profile/9/schedule', SCHEDULE],
    409: ['/profile/1/schedule', SCHEDULE],
  },
  'PATCH /profile/{profile_id}/schedule': {
    success: ['/profile/1/schedule', { periods: [] }],
    404: ['/profile/2/schedule', {}],
  },
  'DELETE /profile/{profile_id}/schedule': {
    success: ['/profile/1/schedule'],
    404: ['/profile/2/schedule'],
  },
  'GET /profile/{profile_id}/switches': {
    success: ['/profile/1/switches'],
    404: ['/profile/9/switches'],
  },
  'GET /profile/{profile_id}/subscribers': {
    success: ['/profile/1/subscribers'],
    404: ['/profile/9/subscribers'],
  },
  'GET /orders/': { success: ['/orders/'] },
  'POST /orders/': {
    success: ['/orders/', { id: 2, ...ORDER }],
    409: ['/orders/', { id: 1, ...ORDER }],
  },
  'GET /orders/{id}': { success: ['/orders/1'], 404: ['/orders/9'] },
  'PATCH /orders/{id}': {
    success: ['/orders/1', { reference: '2' }],
    404: ['/orders/9', {}],
  },
  'DELETE /orders/{id}': { success: ['/orders/1'], 404: ['/orders/9'] },
  'GET /profile/{profile_id}/grants': {
    success: ['/profile/1/grants'],
    404: ['/profile/9/grants'],
  },
  'POST /profile/{profile_id}/grants': {
    success: ['/profile/1/grants', grant],
    404: ['/profile/9/grants', grant],
  },
  'GET /profile/{profile_id}/grants/{id}': {
    success: [`/profile/1/grants/${GRANT}`],
    404: ['/profile/1/grants/7'],
  },
  'DELETE /profile/{profile_id}/grants/{id}': {
    success: [`/profile/1/grants/${GRANT}`],
    404: ['/profile/1/grants/7'],
  },
  'GET /token/': { success: ['/token/'] },
  'GET /changes/': { success: ['/changes/?last=1'] },
  'GET /categories/': { success: ['/categories/'] },
  'GET /catalogue/': { success: ['/catalogue/'] },
  'GET /catalogue/search/': { success: ['/catalogue/search/?domain=casino.example.com'] },
  'POST /catalogue/accept': {
    success: ['/catalogue/accept', { cat_id: 2, source: HELD }],
    409: ['/catalogue/accept', { cat_id: 5, source: ACCEPTED }],
  },
};

/** What HTTP itself says of a response. */
const HTTP_HEADERS = [
  ...['Date', 'Connection', 'Keep-Alive', 'Cache-Control'],
  ...['Content-Type', 'Content-Length', 'Transfer-Encoding'],
];
const JSON_TYPE = { 'Content-Type': 'application/json' };
const TOO_LONG = JSON.stringify('x'.repeat(5_000));

const { hostname, port } = new URL(inject('databaseUrl'));
const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
// Runs before the tests are defined, because the document defines the tests.
const harness = await startHarness({ MANAGEMENT_BODY_LIMIT: '4kb' }, { databasePort: proxy.port });
const crowded = await harness.startReplica({ MANAGEMENT_CALLS_AT_ONCE: '1' });
const impatient = await harness.startReplica({ MANAGEMENT_STALL_S: '3' });
const hasty = await harness.startReplica({ CHANGE_WAIT_MS: '100' });
const restricted = await startHarness({ MANAGEMENT_ALLOWED_SOURCES: '192.0.2.0/24' });

/** All documented responses: the rows of api-coverage.md. */
const ROWS = openApiChecker()!
  .operations()
  .flatMap(({ method, path, operation }) =>
    Object.entries(operation.responses).map(([status, { description, headers = {} }]) => ({
      endpoint: `${method} ${path}`,
      status,
      description,
      headers: Object.keys(headers),
    })),
  )
  // The success comes last, because it may delete what the others need.
  .sort((a, b) => compare(a.endpoint, b.endpoint) || compare(b.status, a.status));

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Sends a request that triggers a status of an endpoint. */
async function provoke(endpoint: string, status: string): Promise<Answer> {
  const [method] = endpoint.split(' ') as [string];
  const requests = REQUESTS[endpoint];
  const [path, body] = requests.success;
  const { baseUrl, authorization } = harness;
  const send = (text: string | undefined, headers: Record<string, string>, url = baseUrl) =>
    rawRequest(url, {
      method,
      path,
      // Node does not set it for a DELETE.
      headers: { ...headers, ...(text !== undefined && { 'Content-Length': `${text.length}` }) },
      ...(text !== undefined && { body: text }),
    });
  const text = body === undefined ? undefined : JSON.stringify(body);
  switch (status) {
    case '401':
      return send(text, JSON_TYPE);
    case '403':
      return send(text, { ...authorization, ...JSON_TYPE }, restricted.baseUrl);
    case '429': {
      const release = await holdCall(crowded.managementPort, TOKEN);
      const url = `http://127.0.0.1:${crowded.managementPort}`;
      return send(text, { ...authorization, ...JSON_TYPE }, url).finally(release);
    }
    case '408':
      return stall(endpoint);
    case '413':
      return send(TOO_LONG, { ...authorization, ...JSON_TYPE });
    case '415':
      return send(text, { ...authorization, 'Content-Type': 'text/plain' });
    case '422':
      return wrong(method, endpoint, path);
    case '404':
    case '409':
      return harness.call(method, ...requests[status === '404' ? 404 : 409]!);
    case '500':
      return unforeseen(() => harness.call(method, path, body));
    case '503':
      return outOfReach(() => harness.call(method, path, body));
    case '504':
      return losingCommit(() => {
        const url = `http://127.0.0.1:${hasty.managementPort}`;
        return send(text, { ...authorization, ...JSON_TYPE }, url);
      });
    case '200':
      return harness.call(method, ...(requests.dryRun ?? requests.success));
    default:
      return harness.call(method, path, body);
  }
}

let stalled: ReadonlyMap<string, Promise<Answer>> | undefined;

/** Sends half a body to every endpoint that reads one, all at once, so that they wait together. */
function stall(endpoint: string): Promise<Answer> {
  stalled ??= new Map(
    ROWS.filter((row) => row.status === '408').map(({ endpoint: name }) => [
      name,
      rawRequest(`http://127.0.0.1:${impatient.managementPort}`, {
        method: name.split(' ')[0],
        path: REQUESTS[name].success[0],
        headers: { ...harness.authorization, ...JSON_TYPE, 'Content-Length': '9' },
        body: '{',
        isCut: true,
      }),
    ]),
  );
  return stalled.get(endpoint)!;
}

/**
 * A request with an invalid path parameter if the path has one, otherwise with a body of the wrong type, or with an
 * unknown query parameter.
 */
function wrong(method: string, endpoint: string, path: string): Promise<Answer> {
  if (method === 'GET' && !endpoint.includes('{'))
    return harness.call(method, `${path.replace(/\?.*/, '')}?unknown=7`);
  if (!endpoint.includes('{')) return harness.call(method, path, 7);
  const parts = endpoint.split(' ')[1].split('/');
  const first = parts.findIndex((part) => part.startsWith('{'));
  const broken = path.split('/').with(first, 'x').join('/');
  return harness.call(method, broken, REQUESTS[endpoint].success[1]);
}

async function unforeseen(send: () => Promise<Answer>): Promise<Answer> {
  // What every other call reads, and what a search of the catalogue reads.
  for (const table of ['config_head', 'catalogue_definition']) {
    await harness.sql(`ALTER TABLE ${table} RENAME TO ${table}_mislaid`);
  }
  const answer = await send();
  for (const table of ['config_head', 'catalogue_definition']) {
    await harness.sql(`ALTER TABLE ${table}_mislaid RENAME TO ${table}`);
  }
  return answer;
}

async function outOfReach(send: () => Promise<Answer>): Promise<Answer> {
  proxy.cut();
  const answer = await send();
  proxy.restore();
  return answer;
}

/** PostgreSQL goes away with the answer to the COMMIT. */
async function losingCommit(send: () => Promise<Answer>): Promise<Answer> {
  proxy.breakAt('COMMIT', 'before', { once: 'weir_log_changes', staysAway: true });
  const answer = await send();
  proxy.restore();
  return answer;
}

async function restore(): Promise<void> {
  // An init leaves the schedules of the profiles that it has.
  for (const id of [1, 2]) await harness.call('DELETE', `/profile/${id}/schedule`);
  expect((await harness.call('POST', '/init/', STORED_ORDER)).status).toBe(204);
  // An init leaves orders as they are.
  for (const id of [1, 2]) await harness.call('DELETE', `/orders/${id}`);
  for (const [path, body] of [
    ['/profile/1/schedule', SCHEDULE],
    ['/orders/', { id: 1, ...ORDER }],
    ['/profile/1/grants', grant],
  ] as const) {
    expect((await harness.call('POST', path, body)).status).toBe(201);
  }
}

describe('every documented response', () => {
  beforeAll(async () => {
    await holdList(harness, 2, HELD);
    await holdList(harness, 5, ACCEPTED);
    await harness.call('POST', '/catalogue/accept', { cat_id: 5, source: ACCEPTED });
    await restore();
  });
  afterAll(async () => {
    await crowded.stop();
    await impatient.stop();
    await hasty.stop();
    await restricted.stop();
    await harness.stop();
    await proxy.stop();
  });

  it('is provoked by a request of this test', () => {
    expect(Object.keys(REQUESTS).sort()).toEqual([...new Set(ROWS.map((row) => row.endpoint))]);
  });

  it.each(ROWS)('$endpoint: $status, $description', async ({ endpoint, status, headers }) => {
    // The harness checks the body against the document.
    const answer = await provoke(endpoint, status);
    expect(String(answer.status)).toBe(status);
    const undocumented = new Headers(answer.headers);
    for (const name of [...HTTP_HEADERS, ...headers]) undocumented.delete(name);
    expect([...undocumented.keys()]).toEqual([]);
    if (['429', '503'].includes(status)) expect(answer.headers.get('retry-after')).toBe('1');
    if (status === '504') expect(answer.headers.has('retry-after')).toBe(false);
    if (status === '401') expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    if (!status.startsWith('2')) return;
    for (const name of ['X-Config-Revision', 'X-Config-Applied']) {
      expect([name, answer.headers.has(name)]).toEqual([name, headers.includes(name)]);
    }
    if (!endpoint.startsWith('GET ')) await restore();
  });

  it('is listed in api-coverage.md', async () => {
    await expect(renderCoverage()).toMatchFileSnapshot('../../../api-coverage.md');
  });
});

function renderCoverage(): string {
  const ascending = ROWS.toSorted(
    (a, b) => compare(a.endpoint, b.endpoint) || compare(a.status, b.status),
  );
  const cells = ascending.map(({ endpoint, status, description }) => [
    `\`${endpoint}\``,
    status,
    `${endpoint}: ${status}, ${description}`,
  ]);
  const table = [['endpoint', 'status', 'test'], ...cells];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  const line = (row: readonly string[], fill = ' '): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column], fill)).join(' | ')} |`;
  return [
    '# Responses of every endpoint in the tests',
    '',
    'Each status that the OpenAPI document lists for an endpoint has a test in',
    '`src/http/openapi/every-response.int.spec.ts`, under `every documented response`. The test',
    'triggers it over real HTTP and checks the body against the document. A test fails when an endpoint or a status is',
    'missing on one side. The tests generate this page.',
    '',
    line(table[0]),
    line(['', '', ''], '-'),
    ...cells.map((row) => line(row)),
    '',
  ].join('\n');
}
