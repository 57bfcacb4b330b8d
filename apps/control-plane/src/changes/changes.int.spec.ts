import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@weir/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { EventReader } from '../testing/event-reader.js';
import { faultsOf, type Harness, startHarness, TOKEN } from '../testing/harness.js';

const WAIT = { timeout: 60_000 };
const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const SECOND = { Authorization: 'Bearer second-token-of-the-tests' };
const READER = { Authorization: 'Bearer token-of-the-reader' };
const readerEntry = `- { name: reader, sha256: '${sha256('token-of-the-reader').toString('hex')}', scope: read }\n`;
const otherEntry = `- { name: other, sha256: '${sha256('token-of-the-other').toString('hex')}', scope: read }\n`;
const SCHEDULE = {
  target_profile_id: 8,
  periods: [{ start: { day: 'friday', time: '18:00' }, end: { day: 0, time: '06:00' } }],
};

interface Changes {
  readonly changes: { readonly revision: number; readonly changed: readonly object[] }[];
  readonly next: number;
}

describe('GET /changes/', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-changes-'));
  const tokens = join(folder, 'tokens.yaml');
  let harness: Harness;
  const change = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<number> => {
    const answer = await harness.call(method, path, body, headers);
    expect([path, answer.status]).toEqual([path, expect.toSatisfy((status) => status < 300)]);
    return Number(answer.headers.get('x-config-revision'));
  };
  const read = async (query: string, headers = {}): Promise<Changes> => {
    const answer = await harness.call('GET', `/changes/?${query}`, undefined, headers);
    expect([query, answer.status]).toEqual([query, 200]);
    return answer.body as Changes;
  };
  const revisionsOf = async (query: string) =>
    (await read(query)).changes.map(({ revision }) => revision);
  const follow = (query: string, headers: Record<string, string> = {}, plane?: ControlPlane) =>
    EventReader.open(
      `http://127.0.0.1:${(plane ?? harness.controlPlane).managementPort}/changes/?${query}`,
      { ...harness.authorization, ...headers },
    );
  /** A change that concerns no profile. */
  const touch = (headers: Record<string, string> = {}) =>
    change('PATCH', '/blockpage/1', { type: 0 }, headers);

  beforeAll(async () => {
    writeFileSync(tokens, readerEntry + otherEntry);
    harness = await startHarness({ MANAGEMENT_TOKENS_FILE: tokens });
    await change('POST', '/blockpage/', { id: 1, type: 0 });
    for (const id of [7, 8, 9]) await change('POST', '/profiles/', { profile: { id } });
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true });
  });

  it('tells who changed what by which call, each resource by its key, to a token that may only read', async () => {
    const headers = { 'X-Request-Id': 'ticket-4711', ...SECOND };
    const first = await change(
      'POST',
      '/net/',
      { ip: '192.0.2.7', prefix_len: 24, profile_id: 7 },
      headers,
    );
    await change('POST', '/net6/', { ip: '2001:db8::1', prefix_len: 56, profile_id: 7 });
    const napt = { ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047 };
    await change('POST', '/napt/', { ...napt, profile_id: 7 });
    await change('POST', '/profile/7/bw_list', { type: 'deny', domain: 'secret.example' });
    await change('POST', '/profile/7/schedule', SCHEDULE);
    await change('DELETE', '/profile/7/schedule');
    const order = { id: 3, domain: 'secret.example', authority: 'court', reference: '1' };
    await change('POST', '/orders/', order);
    const grant = { domain: 'secret.example', verdict: 'allow', minutes: 30 };
    await change('POST', '/profile/7/grants', grant);
    const { changes, next } = await read(`after=${first - 1}`, READER);
    expect(changes[0]).toEqual({
      revision: first,
      time: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      token: 'env-2',
      source: '127.0.0.1',
      request_id: 'ticket-4711',
      method: 'POST',
      route: '/net/',
      changed: [{ resource: 'net', key: '192.0.2.7/24', action: 'set', count: 1 }],
    });
    expect(changes.flatMap(({ changed }) => changed)).toEqual([
      { resource: 'net', key: '192.0.2.7/24', action: 'set', count: 1 },
      { resource: 'net6', key: '2001:db8::1/56', action: 'set', count: 1 },
      { resource: 'napt', key: '198.51.100.1:1024-2047', action: 'set', count: 1 },
      {
        resource: 'bw_list',
        key: { profile_id: 7, domain_hash: expect.any(Number) },
        action: 'set',
        count: 1,
      },
      { resource: 'schedule', key: 7, action: 'set', count: 1 },
      { resource: 'schedule', key: 7, action: 'deleted', count: 1 },
      { resource: 'orders', key: 3, action: 'set', count: 1 },
      {
        resource: 'grants',
        key: { profile_id: 7, domain_hash: expect.any(Number) },
        action: 'set',
        count: 1,
      },
    ]);
    expect(next).toBe(first + 7);
    expect(JSON.stringify(changes)).not.toContain('secret');
  });

  it('names a network by its address as it was sent, also when a call moves it', async () => {
    const { body } = await harness.call('GET', '/changes/?last=1');
    const { next } = body as { next: number };
    const path = (host: number): string => `/net/${0xcb00_0200 + host}`;
    await change('POST', '/net/', { ip: '203.0.2.5', prefix_len: 24, profile_id: 7 });
    await change('PATCH', path(5), { ip: '203.0.2.9' });
    await change('PATCH', path(9), { profile_id: 8 });
    await change('DELETE', path(9));
    await change('POST', '/net6/', { ip: '2001:db8:1::ffff', prefix_len: 112, profile_id: 7 });
    await change('PATCH', '/net6/2001:db8:1::ffff', { ip: '2001:db8:1::1' });
    const { changes } = await read(`after=${next}`);
    const keysOf = (changed: readonly Record<string, unknown>[]) =>
      changed.map(({ action, key }) => [action, key]);
    expect(changes.map(({ changed }) => keysOf(changed as never))).toEqual([
      [['set', '203.0.2.5/24']],
      [
        ['deleted', '203.0.2.5/24'],
        ['set', '203.0.2.9/24'],
      ],
      [['set', '203.0.2.9/24']],
      [['deleted', '203.0.2.9/24']],
      [['set', '2001:db8:1::ffff/112']],
      [
        ['deleted', '2001:db8:1::ffff/112'],
        ['set', '2001:db8:1::1/112'],
      ],
    ]);
    await change('DELETE', '/net6/2001:db8:1::1');
  });

  it('begins with what Weir has done itself, which no call has made', async () => {
    const { changes } = await read('limit=2');
    expect(changes).toMatchObject([
      {
        revision: 1,
        token: null,
        source: null,
        request_id: null,
        method: null,
        route: null,
        changed: [{ resource: 'catalogue', key: null }],
      },
      { revision: 2, changed: [{ resource: 'blockpage', key: 1 }] },
    ]);
  });

  it('gives pages, 100 changes unless told, and says where to go on', async () => {
    for (let i = 0; i < 110; i++) await touch();
    const all = await revisionsOf('limit=1000');
    expect(all).toEqual(all.map((_, i) => i + 1));
    expect(await revisionsOf('')).toEqual(all.slice(0, 100));
    const paged: number[] = [];
    for (let next = 0; ;) {
      const page = await read(`after=${next}&limit=37`);
      if (page.changes.length === 0) {
        expect(page.next).toBe(next);
        break;
      }
      paged.push(...page.changes.map(({ revision }) => revision));
      expect(page.next).toBe(paged.at(-1));
      ({ next } = page);
    }
    expect(paged).toEqual(all);
    expect(await read('after=900000')).toEqual({ changes: [], next: 900_000 });
  });

  it('gives the newest, oldest first', async () => {
    const head = await touch();
    expect(await revisionsOf('last=3')).toEqual([head - 2, head - 1, head]);
    expect((await read('last=3')).next).toBe(head);
    expect((await revisionsOf('last=1000')).slice(0, 3)).toEqual([1, 2, 3]);
    expect(await read('last=5&token=nobody')).toEqual({ changes: [], next: 0 });
  });

  it('finds what names a profile: itself, rules, schedule, grants, networks that have or had it, /init/', async () => {
    const start = await touch();
    const path = '/net/3405803777';
    const grant = { domain: 'example.com', verdict: 'allow', minutes: 30 };
    const mine = [
      await change('PATCH', '/profiles/9', { cat_ids: [1] }),
      await change('POST', '/profile/9/bw_list', { type: 'deny', domain: 'example.com' }),
      await change('DELETE', '/profile/9/bw_list/example.com'),
      await change('POST', '/profile/9/app_aware', { app_id: 3, status: 'allow' }),
      await change('POST', '/profile/9/schedule', SCHEDULE),
      await change('DELETE', '/profile/9/schedule'),
      await change('POST', '/profile/9/grants', grant),
      await change('POST', '/net/', { ip: '203.0.113.1', profile_id: 9 }),
      await change('PATCH', path, { profile_id: 8 }),
    ];
    const others = [await change('PATCH', path, { prefix_len: 30 }), await touch()];
    mine.push(await change('PATCH', path, { profile_id: 9 }), await change('DELETE', path));
    const many = Array.from({ length: 150 }, (_, i) => ({ profile: { id: 1000 + i } }));
    const nets = (ids: readonly number[]) =>
      ids.map((id) => ({
        ip: '203.0.113.9',
        lower_port_bound: id,
        upper_port_bound: id,
        profile_id: id,
      }));
    const created: number[] = [];
    for (let i = 0; i < many.length; i += 10) {
      const some = many.slice(i, i + 10).map((one) => change('POST', '/profiles/', one));
      created.push(...(await Promise.all(some)));
    }
    others.push(created[149]);
    // It concerns more profiles than a record has keys.
    const ids = many.map(({ profile: { id } }) => id);
    others.push(await change('POST', '/napt/batch', nets(ids)));
    mine.push(
      await change(
        'POST',
        '/napt/batch',
        nets([...ids.map((id) => id + 1_000), 9]).map((one) => ({ ...one, profile_id: 9 })),
      ),
    );
    expect(await revisionsOf(`after=${start}&limit=1000&profile_id=9`)).toEqual(mine);
    expect(await revisionsOf(`after=${start}&limit=1000&profile_id=1149`)).toEqual(
      others.slice(-2),
    );
    expect(await revisionsOf(`after=${start}&limit=1000&profile_id=8`)).toEqual([
      mine[8],
      others[0],
      mine[9],
    ]);
    expect(await revisionsOf('last=2&profile_id=9')).toEqual(mine.slice(-2));

    const init = await change('POST', '/init/', {
      ...EMPTY,
      blockpages: [{ id: 1, type: 0 }],
      profiles: [7, 8, 9].map((id) => ({ profile: { id } })),
    });
    expect(await revisionsOf('last=2&profile_id=9')).toEqual([mine.at(-1), init]);
    // Also one that there never was.
    expect(await revisionsOf('profile_id=123456')).toEqual([init]);
  });

  it('counts what a record has no room for', async () => {
    const domains = Array.from({ length: 250 }, (_, i) => `secret-${i}.example`);
    await change('POST', '/profile/7/bw_list/batch', { type: 'deny', domains });
    const [{ changed }] = (await read('last=1')).changes;
    expect(changed).toHaveLength(101);
    expect(changed.at(-1)).toEqual({ resource: 'more', key: null, action: 'set', count: 150 });
  });

  it('finds the changes of a token, also those that name a profile', async () => {
    const start = await touch();
    const cats = { cat_ids: [2] };
    const made = [
      await change('PATCH', '/profiles/7', cats, SECOND),
      await change('PATCH', '/profiles/7', cats),
      await change('PATCH', '/profiles/8', cats, SECOND),
      await touch(SECOND),
      await change('PATCH', '/profiles/7', cats, SECOND),
    ];
    const of = (query: string) => revisionsOf(`after=${start}&${query}`);
    expect(await of('token=env-2')).toEqual([made[0], made[2], made[3], made[4]]);
    expect(await of('token=env-1')).toEqual([made[1]]);
    expect(await of('token=env-2&profile_id=7')).toEqual([made[0], made[4]]);
    expect(await of('token=env-2&profile_id=7&limit=1')).toEqual([made[0]]);
    expect(await revisionsOf('token=env-2&last=2')).toEqual([made[3], made[4]]);
    expect(await revisionsOf('token=env-2&profile_id=7&last=1')).toEqual([made[4]]);
    expect(await of('token=nobody')).toEqual([]);
  });

  it.each([
    ['after=-1', ['query.after: greater_than_equal']],
    ['after=1.5', ['query.after: int_type']],
    ['limit=0', ['query.limit: greater_than_equal']],
    ['limit=1001', ['query.limit: less_than_equal']],
    ['last=0', ['query.last: greater_than_equal']],
    ['last=1001', ['query.last: less_than_equal']],
    ['last=1&after=1', ['query.last: value_error']],
    ['last=1&limit=1', ['query.last: value_error']],
    ['profile_id=x', ['query.profile_id: int_type']],
    ['profile_id=2147483648', ['query.profile_id: less_than_equal']],
    ['token=a&token=b', ['query.token: duplicate']],
    ['token=a%00', ['query.token: value_error']],
    [
      'page=1&domain=secret.example',
      ['query.domain: extra_forbidden', 'query.page: extra_forbidden'],
    ],
  ])('refuses ?%s', async (query, faults) => {
    const answer = await harness.call('GET', `/changes/?${query}`);
    expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
  });

  it('logs no query', async () => {
    await read('token=a-token-that-is-asked-for');
    await expect
      .poll(() => harness.logLines.filter((line) => line.includes('/changes/')).length)
      .toBeGreaterThan(5);
    expect(harness.logLines.join('')).not.toMatch(/asked-for|secret\.example|limit=/);
  });

  describe('as a stream of events', () => {
    it('goes on as changes come, and each event has its revision as id', async () => {
      const start = await touch();
      const stream = await follow(`after=${start - 1}`);
      await expect.poll(() => stream.ids).toEqual([start]);
      const next = await change('PATCH', '/profiles/7', { cat_ids: [3] });
      await expect.poll(() => stream.ids).toEqual([start, next]);
      expect(stream.events.map(({ data }) => data as object)).toEqual(
        (await read(`after=${start - 1}`)).changes,
      );
      await stream.close();
    });

    it('is counted as a request, but its time is that of its client', async () => {
      const replica = await harness.startReplica();
      await (await follow('last=1', {}, replica)).close();
      const metrics = async () =>
        (await fetch(`http://127.0.0.1:${replica.opsPort}/metrics`)).text();
      const counted = '{method="GET",route="/changes/",status="200"} 1';
      await expect.poll(metrics).toContain(`weir_management_requests_total${counted}`);
      expect(await metrics()).not.toMatch(/request_duration_seconds_count.*changes/);
      await replica.stop();
    });

    it('goes on after Last-Event-ID, whatever the query says', async () => {
      const start = await touch();
      const stream = await follow('after=0', { 'Last-Event-ID': String(start) });
      const next = await touch();
      await expect.poll(() => stream.ids).toEqual([next]);
      await stream.close();
      const broken = await harness.call('GET', '/changes/', undefined, {
        Accept: 'text/event-stream',
        'Last-Event-ID': 'x',
      });
      expect([broken.status, faultsOf(broken)]).toEqual([422, ['query.after: int_type']]);
    });

    it('begins with the newest if told, and filters as pages do', async () => {
      const mine = await change('PATCH', '/profiles/7', { cat_ids: [4] });
      await touch();
      const newest = await follow('last=2');
      const filtered = await follow(`last=1&profile_id=7`);
      const next = await change('PATCH', '/profiles/7', { cat_ids: [5] });
      await expect.poll(() => newest.ids).toEqual([mine, mine + 1, next].slice(-3));
      await expect.poll(() => filtered.ids).toEqual([mine, next]);
      await newest.close();
      await filtered.close();
    });

    it('has a long past whole and in order', async () => {
      const all = await revisionsOf('limit=1000');
      expect(all.length).toBeGreaterThan(250);
      const stream = await follow('');
      await expect.poll(() => stream.ids).toEqual(all);
      await stream.close();
    });

    it('loses and repeats nothing when several control planes make changes', async () => {
      const replica = await harness.startReplica();
      const start = await touch();
      const streams = await Promise.all([
        follow(`after=${start}`),
        follow(`after=${start}`, {}, replica),
        follow(`last=1`, {}, replica),
      ]);
      const make = async (port: number, count: number) => {
        const made: number[] = [];
        for (let i = 0; i < count; i++) {
          const response = await fetch(`http://127.0.0.1:${port}/blockpage/1`, {
            method: 'PATCH',
            headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
            body: '{"type":0}',
          });
          made.push(Number(response.headers.get('x-config-revision')));
        }
        return made;
      };
      const ports = [harness.controlPlane.managementPort, replica.managementPort];
      const made = (await Promise.all([...ports, ...ports].map((port) => make(port, 40)))).flat();
      const expected = made.toSorted((a, b) => a - b);
      expect(expected).toEqual(expected.map((_, i) => start + 1 + i));
      await expect.poll(() => streams[0].ids).toEqual(expected);
      await expect.poll(() => streams[1].ids).toEqual(expected);
      await expect.poll(() => streams[2].ids).toEqual([start, ...expected]);
      await Promise.all(streams.map((stream) => stream.close()));
      await replica.stop();
    });

    it('has comments while nothing happens, and ends cleanly when the process stops', async () => {
      // One every four seconds: a machine that stalls for some is not taken for a client that does.
      const replica = await harness.startReplica({ MANAGEMENT_STALL_S: '8' });
      const head = await touch();
      const stream = await follow('last=1', {}, replica);
      await expect.poll(() => stream.comments).toBeGreaterThan(1);
      const next = await touch();
      await expect.poll(() => stream.ids).toEqual([head, next]);
      await replica.stop();
      expect(await stream.ended).toBe(true);
    });

    it('has comments too while all changes are such as it passes over', async () => {
      const replica = await harness.startReplica({ MANAGEMENT_STALL_S: '8' });
      const stream = await follow('token=nobody', {}, replica);
      const comments = async () => (await touch(), stream.comments);
      await expect.poll(comments, { interval: 200 }).toBeGreaterThan(0);
      await stream.close();
      await replica.stop();
    });

    it('is refused with 429 when a token has sixteen', async () => {
      const streams = await Promise.all(Array.from({ length: 16 }, () => follow('last=1')));
      expect(streams.map(({ status }) => status)).toEqual(Array<number>(16).fill(200));
      const tooMany = await harness.call('GET', '/changes/', undefined, {
        Accept: 'text/event-stream',
      });
      expect([tooMany.status, tooMany.headers.get('retry-after')]).toEqual([429, '1']);
      const other = await follow('last=1', SECOND);
      expect(other.status).toBe(200);
      await streams.pop()?.close();
      let again: EventReader | undefined;
      await expect
        .poll(async () => {
          again = await follow('last=1');
          return again.status;
        })
        .toBe(200);
      for (const stream of [...streams, other, again]) await stream?.close();
    });

    it('gives its place back also when it waits behind another one on a connection that ends', async () => {
      const { hostname, port } = new URL(harness.baseUrl);
      const { Authorization } = SECOND;
      const asked = ['GET /changes/?last=1 HTTP/1.1', 'Host: weir', 'Accept: text/event-stream'];
      const request = [...asked, `Authorization: ${Authorization}`, '', ''].join('\r\n');
      const statuses = async (count: number) => {
        const all = Array.from({ length: count }, () => follow('last=1', SECOND));
        const streams = await Promise.all(all);
        for (const stream of streams) await stream.close();
        return streams.map(({ status }) => status);
      };
      // As many as a token may have.
      const connections = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const connection = connect(Number(port), hostname);
          connection.write(request.repeat(2));
          const [first] = (await once(connection, 'data')) as [Buffer];
          expect(first.toString()).toMatch(/^HTTP\/1\.1 200 /);
          return connection;
        }),
      );
      await expect.poll(() => statuses(1), WAIT).toEqual([429]);
      for (const connection of connections) connection.destroy();
      await expect.poll(() => statuses(16), WAIT).toEqual(Array<number>(16).fill(200));
    });

    it('ends when its token is taken out', async () => {
      const stream = await follow('last=1', READER);
      await expect.poll(() => stream.ids.length).toBe(1);
      writeFileSync(tokens, otherEntry);
      let isOver = false;
      void stream.ended.then((clean) => (isOver = clean));
      await expect
        .poll(
          async () => {
            await touch();
            return isOver;
          },
          { interval: 200 },
        )
        .toBe(true);
    });

    it('is for GET with that Accept only', async () => {
      const headers = { ...harness.authorization, Accept: 'text/event-stream' };
      const head = await fetch(`${harness.baseUrl}/changes/?last=1`, { method: 'HEAD', headers });
      expect([head.status, await head.text()]).toEqual([200, '']);
      for (const accept of ['*/*', 'application/json', 'text/html', 'application/json, text/*']) {
        const answer = await harness.call('GET', '/changes/?last=1', undefined, { Accept: accept });
        expect([accept, answer.headers.get('content-type')]).toEqual([
          accept,
          'application/json; charset=utf-8',
        ]);
      }
    });
  });
});
