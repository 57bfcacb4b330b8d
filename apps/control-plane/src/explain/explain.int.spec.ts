import { ClientAddress, type Incident, IncidentSeal, UNKNOWN_PORT } from '@weir/clients';
import { OtlpReceiver } from '@weir/telemetry/testing';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exampleOf } from '../http/validation/dto.js';
import { faultsOf, type Harness, startHarness } from '../testing/harness.js';
import { ExplanationDto, type StepDto } from './explain.dto.js';

const CATALOGUE = `
categories:
  - { id: 5, name: Games, domains: [play.example] }
  - { id: 12, name: Gambling, domains: [casino.play.example], sources: [{ file: bets.txt, format: domains }] }
  - id: 20
    name: Search
    rewrites: [{ to: safe.search.example, names: [www.search.example] }]
  - { id: 21, name: Malware, purpose: security, domains: [evil.example] }
applications:
  - { id: 3, name: Video, domains: [video.example] }
  - { id: 4, name: Clips, domains: [video.example] }
`;
/** A Wednesday. */
const AT = '2026-11-25T12:00:00Z';

const NEW_KEY = '000102030405060708090a0b0c0d0e0f';
const OLD_KEY = '101112131415161718191a1b1c1d1e1f';

let harness: Harness;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-explain-'));
  await writeFile(join(folder, 'catalogue.yaml'), CATALOGUE);
  const listed = Array.from({ length: 40_000 }, (_, i) => `n${i}.bets.example\n`);
  await writeFile(join(folder, 'bets.txt'), `${listed.join('')}bet.example\n`);
  harness = await startHarness({
    CATALOGUE: folder,
    BLOCK_PAGE_IPV4: '192.0.2.80',
    INCIDENT_KEYS: `${NEW_KEY},${OLD_KEY}`,
  });
  await change('POST', '/profiles/', { profile: { id: 1 }, cat_ids: [5, 12, 20, 21] });
  await change('POST', '/profiles/', { profile: { id: 2, white_list_only: true } });
  await change('POST', '/profiles/', {
    profile: { id: 3, empty_dns_answer: true, appaware_priority_over_bwlists: true },
    apps: [
      { app_id: 3, status: 'allow' },
      { app_id: 4, status: 'allow' },
    ],
  });
  await change('POST', '/net/', { ip: '203.0.113.9', prefix_len: 24, profile_id: 1 });
  await change('POST', '/net6/', { ip: '2001:db8::1', prefix_len: 56, profile_id: 2 });
  const range = { ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047 };
  await change('POST', '/napt/', { ...range, profile_id: 3 });
  await change('POST', '/profile/1/bw_list', { type: 'deny', domain: 'bad.example' });
  await change('POST', '/profile/3/bw_list', { type: 'deny', domain: 'video.example' });
}, 120_000);
afterAll(async () => {
  await harness.stop();
  await rm(folder, { recursive: true });
});

async function change(method: string, path: string, body?: unknown): Promise<Headers> {
  const answer = await harness.call(method, path, body ?? undefined);
  expect([method, path, answer.status < 300, answer.body]).toEqual([
    method,
    path,
    true,
    answer.body,
  ]);
  return answer.headers;
}

async function explain(
  client: string,
  domain: string,
  more: Record<string, string> = {},
): Promise<ExplanationDto> {
  const query = new URLSearchParams({ client, domain, ...more });
  const answer = await harness.call('GET', `/explain/?${query.toString()}`);
  expect([answer.status, answer.body]).toEqual([200, answer.body]);
  expect(decided(answer.body as ExplanationDto)).toHaveLength(1);
  return answer.body as ExplanationDto;
}

/** The ladder as text: the step that decided has a star. */
const ladder = ({ steps }: ExplanationDto): string =>
  steps.map(({ step, verdict, decided }) => `${step} ${verdict}${decided ? '*' : ''}`).join(', ');
const decided = ({ steps }: ExplanationDto): StepDto[] => steps.filter((one) => one.decided);

describe('GET /explain/', () => {
  it('tells subscriber, profile, steps, answer, the change that decided, and the call that undoes it', async () => {
    await change('POST', '/net/', { ip: '192.0.2.0', prefix_len: 24, profile_id: 1 });
    const rule = { type: 'deny', domain: 'example.com' };
    const headers = await change('POST', '/profile/1/bw_list', rule);
    const revision = Number(headers.get('x-config-revision'));
    const at = '2026-11-24T13:00:00+01:00';
    // The answer that is documented.
    expect(await explain('192.0.2.1', 'WWW.example.com.', { at })).toEqual({
      ...exampleOf(ExplanationDto),
      revision,
      since: {
        revision,
        time: expect.any(String) as string,
        token: 'env-1',
        request_id: headers.get('x-request-id'),
      },
    });
  });

  it('lists the steps after the one that decided too, in the order of the profile', async () => {
    const named = await explain('198.51.100.1', 'www.video.example', { port: '1500' });
    expect(ladder(named)).toBe(
      'order none, grant none, application allow*, domain_rule deny, white_list_only none, ' +
        'category none, default allow',
    );
    expect(decided(named)).toEqual([
      {
        step: 'application',
        verdict: 'allow',
        matched: 'video.example',
        decided: true,
        app_id: 3,
        name: 'Video',
      },
    ]);
    expect([named.verdict, named.targets_judged, named.answer]).toEqual(['allow', false, null]);
    const listed = await explain('2001:db8:0:77::1', 'www.video.example');
    expect(ladder(listed)).toBe(
      'order none, grant none, domain_rule none, application none, white_list_only deny*, category none, default allow',
    );
  });

  it('names the category with the lowest id, the list that holds the name, and since when', async () => {
    const { answer, ...found } = await explain('203.0.113.1', 'a.casino.play.example', {
      type: 'https',
    });
    expect(decided(found as ExplanationDto)).toEqual([
      {
        step: 'category',
        verdict: 'deny',
        matched: 'play.example',
        decided: true,
        cat_id: 5,
        name: 'Games',
        source: 'inline',
        listed_since: expect.any(String) as string,
      },
    ]);
    for (const domain of ['www.bet.example', 'n0.bets.example', 'n39999.bets.example']) {
      const [step] = decided(await explain('203.0.113.1', domain));
      expect(step).toMatchObject({ step: 'category', cat_id: 12, source: 'bets.txt' });
      const search = await harness.call('GET', `/catalogue/search/?domain=${domain}`);
      const [{ since }] = search.body as { since: string }[];
      expect(step.listed_since).toBe(since);
    }
    expect(found.type).toBe('HTTPS');
    const ede = { code: 17, text: 'category Games' };
    expect(answer).toEqual({ rcode: 'NOERROR', records: [], ede });
    expect((await explain('203.0.113.1', 'evil.example')).answer?.ede).toEqual({
      code: 15,
      text: 'category Malware',
    });
  });

  it('says that the targets of a permitted name are still judged, and by which step it is permitted', async () => {
    const found = await explain('203.0.113.1', 'good.example');
    expect(ladder(found)).toMatch(/default allow\*$/);
    expect([found.verdict, found.targets_judged, found.answer, found.since]).toEqual([
      'allow',
      true,
      null,
      null,
    ]);
  });

  it('says that the targets are judged whenever there is an order, whatever permits the name', async () => {
    await change('POST', '/profile/1/bw_list', { type: 'allow', domain: 'allowed.example' });
    const uninspected = await harness.startReplica({ INSPECT_CNAME: 'false' });
    const areJudged = async () => {
      const { authorization: headers } = harness;
      const inspecting = harness.controlPlane.managementPort;
      const cases = [
        [inspecting, '192.168.1.1', 'good.example'],
        [inspecting, '203.0.113.1', 'allowed.example'],
        [uninspected.managementPort, '203.0.113.1', 'good.example'],
        // Nothing that an upstream says.
        [inspecting, '192.168.1.1', 'localhost'],
        [inspecting, '203.0.113.1', 'bad.example'],
        [inspecting, '198.51.100.200', 'good.example'],
      ] as const;
      const answers = cases.map(async ([port, client, domain]) => {
        const url = `http://127.0.0.1:${port}/explain/?client=${client}&domain=${domain}`;
        return ((await (await fetch(url, { headers })).json()) as ExplanationDto).targets_judged;
      });
      return Promise.all(answers);
    };
    expect(await areJudged()).toEqual([false, false, false, false, false, false]);
    const order = { id: 8, domain: 'elsewhere.example', authority: 'A', reference: 'R 2' };
    await change('POST', '/orders/', order);
    expect(await areJudged()).toEqual([true, true, true, false, false, false]);
    await change('DELETE', '/orders/8');
    await change('DELETE', '/profile/1/bw_list/allowed.example');
    await uninspected.stop();
  });

  it('finds a subscriber by its port, by no range without one, and refuses a port outside of all ranges', async () => {
    const within = await explain('198.51.100.1', 'good.example', { port: '2047' });
    expect(within.client).toEqual({ address: '198.51.100.1', port: 2047 });
    expect(within.subscriber).toEqual({
      kind: 'napt',
      ip: '198.51.100.1',
      lower_port_bound: 1024,
      upper_port_bound: 2047,
      profile_id: 3,
    });
    const ports: Record<string, string>[] = [{ port: '2048' }, {}];
    for (const more of ports) {
      const outside = await explain('198.51.100.1', 'good.example', more);
      expect(outside).toMatchObject({
        subscriber: null,
        profile: null,
        verdict: 'refused',
        flip: null,
      });
      expect(outside.answer).toEqual({
        rcode: 'REFUSED',
        records: [],
        ede: { code: 18, text: 'not a client of this resolver' },
      });
      expect(ladder(outside)).toBe('order none, default deny*');
    }
    expect((await explain('2001:db8:0:99::', 'good.example')).subscriber).toEqual({
      kind: 'net6',
      ip: '2001:db8::1',
      prefix_len: 56,
      profile_id: 2,
    });
  });

  it('tells clients that are served unfiltered from those that are refused', async () => {
    const home = await explain('192.168.1.1', 'bad.example');
    expect(home).toMatchObject({
      subscriber: null,
      profile: null,
      verdict: 'unfiltered',
      answer: null,
      since: null,
      flip: null,
    });
    expect(ladder(home)).toBe('order none, default allow*');
    expect((await explain('198.51.100.200', 'bad.example')).verdict).toBe('refused');
  });

  it('begins with the special name that decides, whatever the profile says', async () => {
    const found = await explain('2001:db8::5', 'x.use-application-dns.net');
    expect(ladder(found)).toMatch(/^special deny\*, order none, .*white_list_only deny, /);
    expect(found.steps[0].matched).toBe('use-application-dns.net');
    expect([found.verdict, found.answer?.rcode, found.flip, found.since]).toEqual([
      'deny',
      'NXDOMAIN',
      null,
      null,
    ]);
    const local = await explain('203.0.113.1', 'localhost', { type: 'AAAA' });
    expect(ladder(local)).toMatch(/^special allow\*/);
    const info = await explain('2001:db8::', 'resolver.arpa', { type: 'RESINFO' });
    expect(ladder(info)).toMatch(/^special allow\*, order none, .*white_list_only deny, /);
    expect(info.answer?.records).toMatchObject([{ type: 'RESINFO', ttl: 300 }]);
    expect(local.answer?.records).toEqual([{ type: 'AAAA', ttl: 10_800, data: '::1' }]);
  });

  it('says where safe search sends a name', async () => {
    const found = await explain('203.0.113.1', 'www.search.example');
    expect([found.verdict, found.rewrite, found.answer]).toEqual([
      'allow',
      'safe.search.example',
      null,
    ]);
    const { answer } = await explain('203.0.113.1', 'www.search.example', { type: 'CNAME' });
    expect(answer?.records).toEqual([{ type: 'CNAME', ttl: 10, data: 'safe.search.example' }]);
  });

  it('judges where safe search sends a name, and says what denies that', async () => {
    const rule = { type: 'deny', domain: 'safe.search.example' };
    await change('POST', '/profile/1/bw_list', rule);
    const found = await explain('203.0.113.1', 'www.search.example');
    expect([found.verdict, found.rewrite]).toEqual(['deny', 'safe.search.example']);
    const [step] = decided(found);
    expect([step.step, step.matched]).toEqual(['domain_rule', 'safe.search.example']);
    expect([found.answer?.rcode, found.answer?.records[0].data]).toEqual(['NOERROR', '192.0.2.80']);
    expect(found.since?.revision).toBe(found.revision);
    const { method, path, body } = found.flip!;
    await change(method, path, body);
    const allowed = await explain('203.0.113.1', 'www.search.example');
    expect([allowed.verdict, allowed.rewrite]).toEqual(['allow', 'safe.search.example']);
    for (const domain of ['safe.search.example', 'www.search.example']) {
      await change('DELETE', `/profile/1/bw_list/${domain}`);
    }
  });

  it('names the order or the grant that decided, and the change that made it', async () => {
    const order = { id: 7, domain: 'ordered.example', authority: 'A', reference: 'R 1' };
    const ordered = await change('POST', '/orders/', order);
    const grant = { domain: 'granted.example', verdict: 'deny', minutes: 60 };
    const { body } = await harness.call('POST', '/profile/1/grants', grant);
    const byOrder = await explain('192.0.2.1', 'www.ordered.example');
    expect(decided(byOrder)).toEqual([
      { step: 'order', verdict: 'deny', matched: 'ordered.example', decided: true, order_id: 7 },
    ]);
    const revision = Number(ordered.get('x-config-revision'));
    expect([byOrder.since?.revision, byOrder.flip]).toEqual([revision, null]);
    expect(byOrder.answer?.ede).toMatchObject({ code: 16, text: 'order R 1' });
    const byGrant = await explain('192.0.2.1', 'granted.example');
    expect(decided(byGrant)).toEqual([
      {
        ...{ step: 'grant', verdict: 'deny', matched: 'granted.example', decided: true },
        grant_id: (body as { id: number }).id,
      },
    ]);
    expect(byGrant.since?.revision).toBe(revision + 1);
    await change('DELETE', '/orders/7');
    expect((await explain('192.0.2.1', 'www.ordered.example')).verdict).toBe('allow');
  });

  it('names no order for a client that is refused whatever it asks for', async () => {
    const order = { id: 7, domain: 'ordered.example', authority: 'A', reference: 'R 1' };
    await change('POST', '/orders/', order);
    const refused = await explain('198.51.100.200', 'www.ordered.example');
    expect(ladder(refused)).toBe('order deny, default deny*');
    expect(refused).toMatchObject({ verdict: 'refused', since: null });
    await change('DELETE', '/orders/7');
  });

  it('follows the schedule at the time asked for', async () => {
    await change('POST', '/profiles/', { profile: { id: 10 } });
    await change('POST', '/net/', { ip: '203.0.113.200', prefix_len: 32, profile_id: 10 });
    const point = (day: string, time: string) => ({ day, time });
    await change('POST', '/profile/10/schedule', {
      target_profile_id: 2,
      periods: [{ start: point('wednesday', '20:00'), end: point('thursday', '06:00') }],
    });
    const before = await explain('203.0.113.200', 'good.example', { at: AT });
    expect(before.profile).toEqual({
      id: 10,
      active_id: 10,
      schedule: null,
      next_switch: '2026-11-25T20:00:00.000Z',
    });
    const inside = await explain('203.0.113.200', 'good.example', {
      at: '2026-11-26T06:59:57+01:00',
    });
    expect(inside.profile).toEqual({
      id: 10,
      active_id: 2,
      schedule: {
        target_profile_id: 2,
        since: '2026-11-25T20:00:00.000Z',
        until: '2026-11-26T06:00:00.000Z',
      },
      next_switch: '2026-11-26T06:00:00.000Z',
    });
    expect([inside.verdict, inside.answer?.records[0].ttl]).toEqual(['deny', 3]);
    expect(inside.flip?.path).toBe('/profile/2/bw_list');
  });

  it('gives the change that wrote what decided, also a long batch', async () => {
    const domains = Array.from({ length: 150 }, (_, i) => `n${i}.example.net`);
    const batch = await change('POST', '/profile/1/bw_list/batch', { type: 'deny', domains });
    const revisionOf = (headers: Headers): number => Number(headers.get('x-config-revision'));
    const found = await explain('203.0.113.1', 'n149.example.net');
    expect(found.since).toMatchObject({
      revision: revisionOf(batch),
      request_id: batch.get('x-request-id'),
    });
    await change('POST', '/profile/1/bw_list', { type: 'deny', domain: 'another.example' });
    expect((await explain('203.0.113.1', 'n149.example.net')).since).toEqual(found.since);
    const patched = await change('PATCH', '/profiles/1', { cat_ids: [5, 12, 20] });
    expect((await explain('203.0.113.1', 'bet.example')).since?.revision).toBe(revisionOf(patched));
  });

  it('does not name the writer before a long batch whose log is gone', async () => {
    const domains = Array.from({ length: 150 }, (_, i) => `m${i}.example.net`);
    await change('POST', '/profile/1/bw_list', { type: 'allow', domain: domains[149] });
    await change('POST', '/profile/1/bw_list/batch', { type: 'deny', domains });
    const sinceOf = async (domain: string) => (await explain('203.0.113.1', domain)).since;
    const patched = await sinceOf('bet.example');
    expect(patched).not.toBeNull();
    expect(await sinceOf(domains[149])).not.toBeNull();
    await harness.sql('DELETE FROM change');
    expect([await sinceOf(domains[149]), await sinceOf('bet.example')]).toEqual([null, patched]);
  });

  it('reports every fault of the query', async () => {
    const faults = async (query: string) => {
      const answer = await harness.call('GET', `/explain/?${query}`);
      expect(answer.status).toBe(422);
      return faultsOf(answer);
    };
    expect(await faults('')).toEqual(['query.client: missing', 'query.domain: missing']);
    expect(
      await faults('client=203.0.113.256&domain=*.example&type=AXFR&port=65536&at=now&zone=1'),
    ).toEqual([
      'query.at: value_error',
      'query.client: value_error',
      'query.domain: value_error',
      'query.port: less_than_equal',
      'query.type: value_error',
      'query.zone: extra_forbidden',
    ]);
    for (const client of ['::ffff:192.0.2.1', 'fe80::1%eth0', '192.0.2.01']) {
      expect(await faults(`client=${encodeURIComponent(client)}&domain=a.example`)).toEqual([
        'query.client: value_error',
      ]);
    }
  });

  it('asks about now and an A record by default, and takes a type by its number', async () => {
    const before = Date.now();
    const { at, type } = await explain('203.0.113.1', 'good.example');
    expect(type).toBe('A');
    expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now());
    const types = { TYPE28: 'AAAA', type65: 'HTTPS', TYPE65280: 'TYPE65280', aAaA: 'AAAA' };
    for (const [asked, said] of Object.entries(types)) {
      expect((await explain('203.0.113.1', 'good.example', { type: asked })).type).toBe(said);
    }
  });

  it.each([
    ['/explain/', 'client=203.0.113.1&', 'domain_rule'],
    ['/catalogue/search/', '', 'catalogue_source'],
  ])('%s keeps the domain out of log, records, metrics and spans', async (path, more, table) => {
    const receiver = await OtlpReceiver.start();
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER: 'always_on',
    };
    // OpenTelemetry reads some of its variables from the environment.
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const replica = await harness.startReplica(variables);
    vi.unstubAllEnvs();
    const logged = harness.logLines.length;
    const ask = async (query: string) => {
      const { authorization: headers } = harness;
      const at = `http://127.0.0.1:${replica.managementPort}`;
      const answer = await fetch(`${at}${path}?${more}${query}`, { headers });
      return { status: answer.status, body: await answer.text() };
    };
    const names = ['very-private.example', '%76ery%2Dprivate.example', 'VERY-PRIVATE.example.'];
    const faulty = ['very-private..example', 'very-private.example&very-private=1'];
    const askAll = (of: readonly string[]) => Promise.all(of.map((name) => ask(`domain=${name}`)));
    const statuses = async (of: readonly string[]) =>
      (await askAll(of)).map(({ status }) => status);
    expect(await statuses(names)).toEqual([200, 200, 200]);
    expect(await statuses(faulty)).toEqual([422, 422]);
    await harness.sql(`ALTER TABLE ${table} RENAME TO renamed`);
    const failed = await askAll(names);
    await harness.sql(`ALTER TABLE renamed RENAME TO ${table}`);
    expect(failed.map(({ status }) => status)).toEqual([500, 500, 500]);
    const metrics = await (await fetch(`http://127.0.0.1:${replica.opsPort}/metrics`)).text();
    expect(metrics).toContain(`route="${path}"`);
    // It sends all that it has.
    await replica.stop();
    await receiver.stop();
    const lines = harness.logLines.slice(logged);
    const requests = lines.filter((line) => line.includes(`"route":"${path}"`));
    expect(requests.some((line) => line.includes('"status":500'))).toBe(true);
    expect(lines.some((line) => line.includes('renamed') || line.includes(table))).toBe(true);
    expect(receiver.spans.map(({ name }) => name)).toContain(`GET ${path}`);
    const records = JSON.stringify(await harness.sql('SELECT * FROM change_record'));
    const sent = Buffer.concat(receiver.bodies).toString('latin1');
    const bodies = failed.map(({ body }) => body).join();
    const everything = [metrics, lines.join(), records, sent, bodies].join();
    expect(everything).not.toMatch(/(v|%76)ery(-|%2d)private/i);
    expect(metrics + sent + bodies).not.toContain('203.0.113.1');
  });
});

describe('GET /explain/?incident=', () => {
  const DAY_MS = 86_400_000;
  const number = (
    atMs: number,
    address = '203.0.113.1',
    port = UNKNOWN_PORT,
    key = NEW_KEY,
    names: Pick<Incident, 'domain' | 'target'> = { domain: 'www.bad.example' },
  ) => {
    const client = new ClientAddress();
    client.set(address, port);
    return new IncidentSeal([key]).seal({ client, atMs, ...names });
  };
  const refused = async (incident: string, more = '', at = harness.baseUrl) => {
    const query = `incident=${encodeURIComponent(incident)}${more}`;
    const { authorization: headers } = harness;
    const answer = await fetch(`${at}/explain/?${query}`, { headers });
    const { detail } = (await answer.json()) as { detail: { loc: string[]; msg: string }[] };
    expect([answer.status, detail[0].loc]).toEqual([422, ['query', 'incident']]);
    expect(detail).toHaveLength(1);
    return detail[0].msg;
  };

  it.each([
    ['203.0.113.1', UNKNOWN_PORT, NEW_KEY],
    ['198.51.100.1', 2047, OLD_KEY],
    ['2001:db8:0:99::', 53, NEW_KEY],
  ])('says what is said for the client %s, port %i, name and time', async (address, port, key) => {
    const atMs = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;
    const incident = number(atMs, address, port, key);
    const answer = await harness.call('GET', `/explain/?incident=${incident}&type=AAAA`);
    const more = { type: 'AAAA', at: new Date(atMs).toISOString() };
    const same = port === UNKNOWN_PORT ? more : { ...more, port: String(port) };
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(await explain(address, 'www.bad.example', same));
  });

  it('judges the target that was blocked, until that or the name is allowed', async () => {
    const names = { domain: 'shop.example', target: 'ads.bad.example' };
    const incident = number(Date.now(), '203.0.113.1', UNKNOWN_PORT, NEW_KEY, names);
    const ask = async () => {
      const answer = await harness.call('GET', `/explain/?incident=${incident}`);
      expect(answer.status).toBe(200);
      return answer.body as ExplanationDto;
    };
    const found = await ask();
    const { domain, target, verdict, targets_judged: areJudged, answer, since, flip } = found;
    expect({ domain, target, verdict, areJudged }).toEqual({
      ...{ ...names, verdict: 'deny', areJudged: false },
    });
    expect(decided(found)).toEqual([
      { step: 'domain_rule', verdict: 'deny', matched: 'bad.example', decided: true },
    ]);
    expect(answer).toMatchObject({ rcode: 'NOERROR', ede: { code: 17, text: 'deny list' } });
    expect(since).toEqual((await explain('203.0.113.1', 'ads.bad.example')).since);
    const body = { type: 'allow', domain: 'shop.example' };
    expect(flip).toEqual({ method: 'POST', path: '/profile/1/bw_list', body });
    const permitted = { target: null, verdict: 'allow', answer: null };
    await change(flip!.method, flip!.path, flip!.body);
    expect(await ask()).toMatchObject({ ...permitted, targets_judged: false });
    await change('DELETE', '/profile/1/bw_list/shop.example');
    await change('PATCH', '/profile/1/bw_list/bad.example', { type: 'allow' });
    expect(await ask()).toMatchObject({ ...permitted, targets_judged: true });
    await change('PATCH', '/profile/1/bw_list/bad.example', { type: 'deny' });
  });

  it('refuses an incident number that is older than a day', async () => {
    const now = Date.now();
    const young = await harness.call('GET', `/explain/?incident=${number(now - DAY_MS + 300_000)}`);
    expect(young.status).toBe(200);
    expect(await refused(number(now - DAY_MS - 1000))).toMatch(/^Has expired/);
  });

  it('refuses one that is changed, cut, of another key, or none', async () => {
    const good = number(Date.now());
    const changed = good.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'));
    const other = number(Date.now(), '203.0.113.1', 53, '0'.repeat(32));
    for (const text of [changed, good.slice(0, -8), other, '', 'bad.example', 'ä'.repeat(999)]) {
      expect(await refused(text)).toMatch(/^Must be an incident number of a block page, whole/);
    }
  });

  it.each(['client=203.0.113.1', 'port=53', 'domain=a.example', 'at=2026-11-24T12:00:00Z'])(
    'refuses it together with %s',
    async (other) => {
      const name = other.replace(/=.*/, '');
      const said = await refused(number(Date.now()), `&${other}`);
      expect(said).toBe(`Must not be given together with ${name}`);
    },
  );

  it('refuses all of them without INCIDENT_KEYS, and says so', async () => {
    const replica = await harness.startReplica({ INCIDENT_KEYS: '' });
    const at = `http://127.0.0.1:${replica.managementPort}`;
    const said = await refused(number(Date.now()), '', at);
    await replica.stop();
    expect(said).toBe('This control plane has no INCIDENT_KEYS');
  });

  it('keeps the incident number and what it tells out of the log', async () => {
    const incident = number(Date.now());
    await harness.call('GET', `/explain/?incident=${incident}`);
    await refused(`${incident}AAAA`);
    const lines = harness.logLines.join();
    expect(lines).toContain('"route":"/explain/"');
    expect(lines).not.toContain(incident.slice(0, 20));
    expect(lines).not.toContain('bad.example');
  });
});

describe('the flip of an explanation', () => {
  const cases: [string, string, Record<string, string>?][] = [
    ['203.0.113.1', 'bad.example'],
    ['203.0.113.1', 'www.bad.example'],
    ['203.0.113.1', 'bet.example'],
    ['203.0.113.1', 'other.example'],
    ['2001:db8::5', 'other.example'],
    ['198.51.100.1', 'www.video.example', { port: '1024' }],
    ['198.51.100.1', 'other.example', { port: '1024' }],
    // During a period of its schedule, set above.
    ['203.0.113.200', 'good.example', { at: '2026-11-26T03:00:00Z' }],
  ];

  it.each(cases)('turns the verdict for %s and %s over, and back', async (client, domain, more) => {
    const before = await explain(client, domain, more);
    const { flip } = before;
    expect(flip).not.toBeNull();
    expect(flip!.body === null).toBe(flip!.method === 'DELETE');
    await change(flip!.method, flip!.path, flip!.body ?? undefined);
    const after = await explain(client, domain, more);
    expect([before.verdict, after.verdict].sort()).toEqual(['allow', 'deny']);
    await change(after.flip!.method, after.flip!.path, after.flip!.body ?? undefined);
    expect((await explain(client, domain, more)).verdict).toBe(before.verdict);
  });
});

it('ends a grant by its flip, unless a rule says the same, or a schedule has made another profile active', async () => {
  const [client, domain] = ['203.0.113.1', 'granted.example'];
  await change('POST', '/profile/1/grants', { domain, verdict: 'deny', minutes: 5 });
  const { verdict, flip } = await explain(client, `www.${domain}`);
  expect([verdict, flip?.method, flip?.body]).toEqual(['deny', 'DELETE', null]);
  await change('POST', '/profile/1/bw_list', { type: 'deny', domain });
  expect((await explain(client, `www.${domain}`)).flip).toBeNull();
  await change('DELETE', `/profile/1/bw_list/${domain}`);
  await change(flip!.method, flip!.path);
  expect((await explain(client, `www.${domain}`)).verdict).toBe('allow');
  const [scheduled, at] = ['203.0.113.200', '2026-11-26T03:00:00Z'];
  const { profile } = await explain(scheduled, domain, { at });
  expect(profile!.id).not.toBe(profile!.active_id);
  await change('POST', `/profile/${profile!.id}/grants`, { domain, verdict: 'deny', minutes: 5 });
  const during = await explain(scheduled, domain, { at });
  expect([during.verdict, during.flip]).toEqual(['deny', null]);
});

// The last test of this file: it replaces what the others ask about.
it('POST /init/ is the change that wrote all that decides, until a later change', async () => {
  const replaced = await change('POST', '/init/', {
    blockpages: [],
    profiles: [{ profile: { id: 1 }, cat_ids: [12] }],
    bw_lists: [{ profile_id: 1, type: 'deny', domains: ['bad.example', 'worse.example'] }],
    napts: [],
    nets: [{ ip: '203.0.113.9', prefix_len: 24, profile_id: 1 }],
    nets6: [],
  });
  const origin = (headers: Headers): object => ({
    revision: Number(headers.get('x-config-revision')),
    token: 'env-1',
    request_id: headers.get('x-request-id'),
  });
  for (const domain of ['www.bad.example', 'worse.example', 'bet.example']) {
    const { verdict, since } = await explain('203.0.113.1', domain);
    expect([domain, verdict, since]).toMatchObject([domain, 'deny', origin(replaced)]);
  }
  expect((await explain('203.0.113.1', 'other.example')).since).toBeNull();
  const later = await change('POST', '/profile/1/bw_list', { type: 'deny', domain: 'bad.example' });
  expect((await explain('203.0.113.1', 'bad.example')).since).toMatchObject(origin(later));
  expect((await explain('203.0.113.1', 'worse.example')).since).toMatchObject(origin(replaced));
});
