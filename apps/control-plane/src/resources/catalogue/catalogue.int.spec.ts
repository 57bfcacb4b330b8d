import { ClientAddress, IncidentSeal, UNKNOWN_PORT } from '@weir/clients';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsOf, type Harness, HASH_KEY, startHarness } from '../../testing/harness.js';

const WAIT = { timeout: 60_000 };

let harness: Harness;
let folder: string;

const names = (count: number) =>
  Array.from({ length: count }, (_, i) => `n${i}.example.net\n`).join('');
const write = (file: string, text: string) => writeFile(join(folder, file), text);
const get = async <T extends object>(path: string) => (await harness.call('GET', path)).body as T;
interface Catalogue {
  readonly version: number;
  readonly sources: readonly Readonly<Record<string, unknown>>[];
}
/** The sources, by name, with some of their fields. */
const sources = async (...fields: string[]) => {
  const { sources: all } = await get<Catalogue>('/catalogue/');
  return all.map((one) => fields.map((field) => one[field]));
};
const accept = (body: object) => harness.call('POST', '/catalogue/accept', body);
/** Of the first category in force. */
const domains = async () => (await get<{ domains: number }[]>('/categories/'))[0].domains;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-catalogue-'));
  await write('bets.txt', names(10));
  await write(
    'catalogue.yaml',
    `categories:
  - id: 12
    name: Gambling
    group: Adults
    purpose: parental
    domains: [casino.example.com]
    sources:
      - { file: bets.txt, format: domains, licence: MIT, commercial_use: unknown }
      - { file: later.txt, format: hosts, commercial_use: false }
  - { id: 13, name: Adverts, domains: [] }
  - { id: 14, name: Hidden, purpose: legal, mandatory: true, secret: true, domains: [hidden.example] }
applications:
  - { id: 3, name: Video, sources: [{ file: bets.txt, format: domains, licence: MIT, commercial_use: unknown }] }
`,
  );
  harness = await startHarness({
    ...{ CATALOGUE: folder, CATALOGUE_INTERVAL_MS: '1000', INCIDENT_KEYS: HASH_KEY },
  });
});
afterAll(async () => {
  await harness.stop();
  await rm(folder, { recursive: true });
});

it('lists the categories in force, with group, purpose and number of domains, and of a secret one the id', async () => {
  expect(await get('/categories/')).toEqual([
    {
      id: 12,
      name: 'Gambling',
      group: 'Adults',
      purpose: 'parental',
      mandatory: false,
      domains: 11,
    },
    { id: 13, name: 'Adverts', group: null, purpose: 'other', mandatory: false, domains: 0 },
    { id: 14, secret: true },
  ]);
});

it('tells which catalogue is in force since when, and how each list of each group is', async () => {
  const [[version, since]] = await harness.sql(
    'SELECT version, activated_at FROM config_head JOIN catalogue_image ON version = catalogue_version',
  );
  const bets = {
    ...{ source: 'bets.txt', format: 'domains', state: 'good', names: 10, bytes: 112 },
    ...{ licence: 'MIT', commercial_use: 'unknown', mirror: null, reason: null },
    last_good: expect.stringMatching(/^20.*Z$/),
  };
  expect(await get('/catalogue/')).toEqual({
    version: Number(version),
    active_since: (since as Date).toISOString(),
    popular: [],
    sources: [
      { cat_id: 12, app_id: null, ...bets },
      {
        ...{ cat_id: 12, app_id: null, source: 'later.txt', format: 'hosts', state: 'never' },
        ...{ names: 0, bytes: 0, licence: null, commercial_use: false, last_good: null },
        mirror: null,
        reason: expect.stringContaining('cannot be read'),
      },
      { cat_id: null, app_id: 3, ...bets },
    ],
  });
});

it('a list that fails is in force as it was last good', async () => {
  const [[good]] = await sources('last_good');
  const isLater = (time: unknown) => String(time) >= String(good);
  await rm(join(folder, 'bets.txt'));
  const failing = ['failing', 10];
  const states = () => sources('state', 'names');
  await expect.poll(states, WAIT).toEqual([failing, ['never', 0], failing]);
  expect((await sources('last_good'))[0][0]).toSatisfy(isLater);
  await write('bets.txt', names(10));
  await expect.poll(states, WAIT).toEqual([
    ['good', 10],
    ['never', 0],
    ['good', 10],
  ]);
});

it('a held list is taken when somebody accepts it, which is a change with a record', async () => {
  await write('bets.txt', names(41));
  const states = () => sources('state', 'names');
  await expect.poll(states, WAIT).toEqual([
    ['held', 10],
    ['never', 0],
    ['held', 10],
  ]);
  expect((await sources('reason'))[0]).toEqual([expect.stringContaining('lists 41 domains')]);
  const before = (await get<Catalogue>('/catalogue/')).version;
  const answer = await accept({ cat_id: 12, source: 'bets.txt' });
  expect(answer).toMatchObject({
    status: 201,
    body: { cat_id: 12, source: 'bets.txt', state: 'good', names: 41, reason: null },
  });
  const revision = answer.headers.get('X-Config-Revision');
  expect(answer.headers.get('X-Config-Applied')).toBe('0/0');
  expect(
    await harness.sql(
      `SELECT origin, token, method, route, keys, key_count FROM change_record WHERE revision = ${revision}`,
    ),
  ).toEqual([
    ['api', 'env-1', 'POST', '/catalogue/accept', [['put', 'catalogueSource', ['bets.txt']]], 1],
  ]);
  await expect.poll(domains, WAIT).toBe(42);
  expect((await get<Catalogue>('/catalogue/')).version).toBeGreaterThan(before);
});

it('a category denied to everybody has the targets of every answer judged, also without a profile', async () => {
  const found = await get('/explain/?client=192.168.1.1&domain=good.example');
  expect(found).toMatchObject({ verdict: 'unfiltered', targets_judged: true });
});

it('a secret category denies the target of an incident number, and names it to nobody', async () => {
  const client = new ClientAddress();
  client.set('192.168.1.1', UNKNOWN_PORT);
  const names = { domain: 'good.example', target: 'www.hidden.example' };
  const incident = new IncidentSeal([HASH_KEY]).seal({ client, ...names, atMs: Date.now() });
  const found = await get(`/explain/?incident=${incident}`);
  expect(found).toMatchObject({
    ...{ domain: 'good.example', target: null, verdict: 'deny', since: null, flip: null },
    steps: [{ step: 'order', verdict: 'deny', matched: null, decided: true }, {}],
  });
  expect(JSON.stringify(found) + harness.logLines.join('')).not.toContain('hidden');
});

it('finds the lists that have a name or one above it, with the line, and since when', async () => {
  const search = (domain: string) => get<object[]>(`/catalogue/search/?domain=${domain}`);
  const bets = {
    source: 'bets.txt',
    matched: 'n40.example.net',
    line: 41,
    since: expect.any(String),
  };
  expect(await search('WWW.N40.example.net.')).toEqual([
    { cat_id: 12, app_id: null, name: 'Gambling', ...bets },
    { cat_id: null, app_id: 3, name: 'Video', ...bets },
  ]);
  expect(await search('casino.example.com')).toMatchObject([
    { cat_id: 12, source: 'inline', matched: 'casino.example.com', line: 6 },
  ]);
  expect(await search('example.net')).toEqual([]);
  expect(await search('hidden.example')).toEqual([]);
  expect(harness.logLines.join('').toLowerCase()).not.toContain('n40');
  expect(harness.logLines.join('')).not.toContain('casino');
});

it('a name stays since when it was first listed, wherever its line moves', async () => {
  const search = () =>
    get<{ line: number; since: string }[]>('/catalogue/search/?domain=n7.example.net');
  const [before] = await search();
  await write('bets.txt', `new.example.net\n${names(41)}`);
  await expect.poll(async () => (await search())[0].line, WAIT).toBe(before.line + 1);
  expect((await search())[0].since).toBe(before.since);
  // The list is stored before the image with it is in force.
  await expect.poll(domains, WAIT).toBe(43);
});

it.each([
  [{ source: 'bets.txt' }, ['body.cat_id: missing']],
  [{ cat_id: null, app_id: null, source: 'bets.txt' }, ['body.cat_id: missing']],
  [{ source: '' }, ['body.cat_id: missing', 'body.source: value_error']],
  [{ cat_id: 12, app_id: 3, source: 'bets.txt' }, ['body.app_id: value_error']],
  [{ cat_id: 12, app_id: 3 }, ['body.app_id: value_error', 'body.source: missing']],
  [{ cat_id: 3, source: 'bets.txt' }, ['body.source: reference']],
  [{ cat_id: null, app_id: 3, source: 'later.txt' }, ['body.source: reference']],
  [{ cat_id: 12, source: '' }, ['body.source: value_error']],
  [{ cat_id: '12', source: 'bets.txt' }, ['body.cat_id: int_type']],
])('%j is 422 with %j, and no change', async (body, faults) => {
  const [[before]] = await harness.sql('SELECT revision FROM config_head');
  const answer = await accept(body);
  expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
  expect(await harness.sql('SELECT revision FROM config_head')).toEqual([[before]]);
});

it('where no list is held there is nothing to accept', async () => {
  expect(await accept({ cat_id: 12, app_id: null, source: 'later.txt' })).toMatchObject({
    status: 409,
    body: { detail: 'no list of later.txt is held' },
  });
});

it('says where only sample names are, until a list is added there', async () => {
  const ops = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}/${path}`);
    return [response.status, await response.text()] as const;
  };
  const sample =
    '{ id: 1, name: Malware, purpose: security, sample: true, domains: [bad.example] }';
  const own = '{ id: 2, name: Own, domains: [own.example] }';
  await write('catalogue.yaml', `include: []\ncategories: [${sample}, ${own}]\n`);
  const told = 'only sample names in 1 Malware; weir catalogue sets tells what to turn on';
  await expect.poll(() => ops('readyz'), WAIT).toEqual([200, `ok\ndegraded: ${told}\n`]);
  const gauge = /^weir_catalogue_category_sample.*$/gm;
  expect((await ops('metrics'))[1].match(gauge)).toEqual([
    'weir_catalogue_category_sample{category="1"} 1',
  ]);
  const secret = sample.replace('sample: true', 'mandatory: true, secret: true, sample: true');
  await write('catalogue.yaml', `include: []\ncategories: [${secret}, ${own}]\n`);
  const ofSecret = told.replace('1 Malware', '1');
  await expect.poll(() => ops('readyz'), WAIT).toEqual([200, `ok\ndegraded: ${ofSecret}\n`]);
  await write(
    'set.yaml',
    'categories: [{ id: 1, sources: [{ file: bets.txt, format: domains }] }]',
  );
  await write('catalogue.yaml', `include: [set.yaml]\ncategories: [${sample}, ${own}]\n`);
  await expect.poll(() => ops('readyz'), WAIT).toEqual([200, 'ok\n']);
  expect((await ops('metrics'))[1].match(gauge)).toBeNull();
});

it('tells which categories of threats block well-known domains, of a secret one how many', async () => {
  expect(await get('/catalogue/')).toMatchObject({ popular: [] });
  const flags = 'purpose: legal, mandatory: true, secret: true';
  const categories = [
    '{ id: 1, name: Malware, purpose: security, domains: [github.com] }',
    `{ id: 2, name: Hidden, ${flags}, domains: [wikipedia.org] }`,
    '{ id: 3, name: Work, domains: [gitlab.com] }',
  ];
  await write('catalogue.yaml', `categories: [${categories.join(', ')}]\n`);
  await expect
    .poll(async () => (await get<{ popular: object[] }>('/catalogue/')).popular, WAIT)
    .toEqual([
      { cat_id: 1, count: 1, domains: ['github.com'] },
      { cat_id: 2, count: 1 },
    ]);
  const logged = () => {
    const lines = harness.logLines.filter((line) => line.includes('blocks well-known domains'));
    return lines.map((line) => JSON.parse(line) as object);
  };
  await expect.poll(logged, WAIT).toMatchObject([
    { category: 1, count: 1, examples: ['github.com'] },
    { category: 2, count: 1, examples: [] },
  ]);
});
