import type { LogPage } from '@weir/change-feed';
import { createHash, randomBytes } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeImage } from '../catalogue/store/catalogue-store.js';
import { Database } from '../platform/database/database.js';
import { FEED_TOKEN, type Harness, startHarness } from '../testing/harness.js';
import { snapshotLines } from '../testing/snapshot-lines.js';

describe('the feed', () => {
  let harness: Harness;
  const get = (path: string, token = FEED_TOKEN, headers: Record<string, string> = {}) =>
    fetch(`${harness.feedUrl}${path}`, {
      headers: { Authorization: `Bearer ${token}`, ...headers },
    });
  const json = async (path: string) => (await get(path)).json();

  beforeAll(async () => {
    harness = await startHarness();
    const { call, sql } = harness;
    await call('POST', '/blockpage/', { id: 7, type: 1 });
    await call('POST', '/profiles/', {
      profile: { id: 1, page_id: 7, empty_dns_answer: true },
      cat_ids: [12],
      apps: [{ app_id: 3, status: 'allow' }],
    });
    await call('POST', '/profiles/', { profile: { id: 2 } });
    await call('POST', '/net/', { ip: '192.0.2.77', prefix_len: 26, profile_id: 1 });
    // Resources whose endpoints this test does not use.
    await sql('INSERT INTO domain_rule VALUES (1, 9007199254740991, 2)');
    await sql(
      "INSERT INTO ipv6_network (address, prefix_length, profile_id) VALUES ('2001:db8::77', 56, 2)",
    );
    await sql("INSERT INTO napt_assignment VALUES ('198.51.100.1', 0, 65535, 2)");
    await sql(`INSERT INTO schedule VALUES (1, 2, '[
      {"start": {"day": "friday", "time": "18:30"}, "end": {"day": 0, "time": "06:00"}},
      {"start": {"day": 6, "time": "00:00"}, "end": {"day": "sunday", "time": "24:00"}}]')`);
  });
  afterAll(() => harness.stop());

  it('requires its token', async () => {
    expect((await get('/snapshot', 'token-of-somebody-else')).status).toBe(401);
  });

  it('takes an Authorization header as the management API does: any number of spaces', async () => {
    expect((await get('/changes?after=0', `  ${FEED_TOKEN}`)).status).toBe(200);
  });

  it('serves a snapshot of every kind, referenced kinds first', async () => {
    const lines = await snapshotLines(harness);
    const [version, sizeBytes] = (
      await harness.sql('SELECT version, size_bytes FROM catalogue_image')
    )[0];
    const [[lineage, digest]] = await harness.sql('SELECT lineage, digest FROM config_head');
    expect(lines).toEqual([
      { type: 'head', lineage, revision: 5, digest },
      { type: 'rows', kind: 'blockPage', rows: [[7, 1]] },
      {
        type: 'rows',
        kind: 'profile',
        rows: [
          [1, 7, 2, 1, 12, 1, 3, 1],
          [2, null, 0, 0, 0],
        ],
      },
      { type: 'rows', kind: 'domainRule', rows: [[1, 9007199254740991, 2]] },
      { type: 'rows', kind: 'ipv4Network', rows: [[0xc0000240, 26, 1]] },
      { type: 'rows', kind: 'ipv6Network', rows: [[0x20010db8, 0, 0, 0, 56, 2]] },
      { type: 'rows', kind: 'naptAssignment', rows: [[0xc6336401, 0, 65535, 2]] },
      { type: 'rows', kind: 'schedule', rows: [[1, 2, 2, 4 * 48 + 37, 12, 6 * 48, 0]] },
      {
        type: 'rows',
        kind: 'catalogue',
        rows: [[Number(version), ...Array<unknown>(8).fill(expect.any(Number)), Number(sizeBytes)]],
      },
      {
        type: 'end',
        digest,
        counts: {
          blockPage: 1,
          profile: 2,
          domainRule: 1,
          ipv4Network: 1,
          ipv6Network: 1,
          naptAssignment: 1,
          schedule: 1,
          catalogue: 1,
        },
      },
    ]);
  });

  it('serves the changes after a revision, in order', async () => {
    const page = (await json('/changes?after=3')) as { changes: unknown[]; head: unknown };
    expect(page).toEqual({
      head: { lineage: expect.any(String), revision: 5, digest: expect.any(String) },
      changes: [
        {
          revision: 4,
          digest: expect.any(String),
          operations: [['put', 'profile', [2, null, 0, 0, 0]]],
        },
        {
          revision: 5,
          digest: expect.any(String),
          operations: [['put', 'ipv4Network', [0xc0000240, 26, 1]]],
        },
      ],
    });
    expect(await json('/changes?after=5')).toMatchObject({ changes: [] });
    expect(await json('/changes?after=0')).toMatchObject({ changes: { length: 5 } });
  });

  it('reports when the log does not reach back far enough', async () => {
    await harness.sql('DELETE FROM change WHERE revision <= 2');
    expect((await get('/changes?after=1')).status).toBe(410);
    expect((await get('/changes?after=2')).status).toBe(200);
    await harness.sql('DELETE FROM change');
    expect((await get('/changes?after=4')).status).toBe(410);
    expect((await get('/changes?after=5')).status).toBe(200);
  });

  it('serves the catalogue image by its hash', async () => {
    const sha256 = String((await harness.sql('SELECT sha256 FROM catalogue_image'))[0][0]);
    const response = await get(`/catalogue/${sha256}`);
    const image = Buffer.from(await response.arrayBuffer());
    expect([response.status, createHash('sha256').update(image).digest('hex')]).toEqual([
      200,
      sha256,
    ]);
    expect((await get(`/catalogue/${'0'.repeat(64)}`)).status).toBe(404);
  });

  it('serves an image from any offset on, across its pieces', async () => {
    const image = randomBytes(3 * 1024 * 1024 + 5);
    const sha256 = createHash('sha256').update(image).digest('hex');
    const database = new Database(harness.environment['DATABASE_URL'], pino({ level: 'silent' }));
    await storeImage(
      database.pool,
      { image, sha256, domainCount: 0, categories: [], applications: [], popular: [] },
      sha256,
    );
    await database.close();
    const part = async (range: string) => {
      const response = await get(`/catalogue/${sha256}`, FEED_TOKEN, { Range: range });
      return Buffer.from(await response.arrayBuffer());
    };
    expect((await part('bytes=0-')).equals(image)).toBe(true);
    expect((await part('bytes=1000000-')).equals(image.subarray(1_000_000))).toBe(true);
    await harness.sql(`DELETE FROM catalogue_image WHERE sha256 = '${sha256}'`);
  });

  it('sends a snapshot compressed, and the same one to all until the log no longer goes on from it', async () => {
    const download = async (atLeast: number) => {
      const response = await get(`/snapshot?atLeast=${atLeast}`);
      const lines = zstdDecompressSync(Buffer.from(await response.arrayBuffer())).toString();
      const { revision } = JSON.parse(lines.slice(0, lines.indexOf('\n'))) as { revision: number };
      return [revision, response.headers.get('etag')];
    };
    const revision = async () =>
      Number((await harness.sql('SELECT revision FROM config_head'))[0][0]);
    await harness.call('POST', '/blockpage/', { id: 89, type: 1 });
    const first = await download(await revision());
    await harness.call('POST', '/blockpage/', { id: 90, type: 1 });
    expect(await download(0)).toEqual(first);
    const second = await download(await revision());
    expect(second[0]).toBe(await revision());
    await harness.call('POST', '/blockpage/', { id: 91, type: 1 });
    expect(await download(0)).toEqual(second);
    await harness.sql('UPDATE config_head SET lineage = gen_random_uuid()');
    const third = await download(0);
    expect(third[0]).toBe(await revision());
    await harness.call('POST', '/blockpage/', { id: 92, type: 1 });
    await harness.sql(
      'DELETE FROM change WHERE revision <= (SELECT max(revision) - 1 FROM change)',
    );
    expect((await download(0))[0]).toBe(await revision());
  });

  it('sends a snapshot from each of two replicas that share a folder', async () => {
    const replica = await harness.startReplica();
    const lines = await Promise.all(
      [harness.feedUrl, `http://127.0.0.1:${replica.feedPort}`].map((url) =>
        snapshotLines(harness, url),
      ),
    );
    await replica.stop();
    expect(lines[0]).toEqual(lines[1]);
    expect(lines[0].at(-1)).toMatchObject({ type: 'end' });
  });

  it('reads a snapshot of a hundred thousand rows at one revision during changes', async () => {
    await harness.sql(`
      INSERT INTO domain_rule
      SELECT 2, i, 1 FROM generate_series(1, 100000) AS i`);
    const { body } = await harness.call('GET', '/blockpage/');
    const before = (body as unknown[]).length + 1;
    const { headers } = await harness.call('POST', '/blockpage/', { id: 99, type: 0 });
    const revision = Number(headers.get('x-config-revision'));
    const reading = snapshotLines(harness);
    const changes = Array.from({ length: 5 }, (_, i) =>
      harness.call('POST', '/blockpage/', { id: 100 + i, type: 0 }),
    );
    const lines = await reading;
    await Promise.all(changes);
    const head = lines[0] as { revision: number };
    const pages = lines.filter((line) => line['kind'] === 'blockPage') as { rows: unknown[] }[];
    expect(pages[0].rows).toHaveLength(before + head.revision - revision);
    expect(lines.at(-1)).toMatchObject({ counts: { domainRule: 100_001 } });
  });

  it('ends a page of changes at its size limit, and continues on the next page', async () => {
    // Random values compress badly: 4 changes with a stored size of about 600 KB.
    await harness.sql(`
      INSERT INTO change (revision, digest, operations)
      SELECT revision, repeat('0', 16),
             jsonb_agg(jsonb_build_array('put', 'domainRule', jsonb_build_array(1, (random() * 9e15)::bigint, 2)))
      FROM generate_series(1001, 1004) AS revision, generate_series(1, 60000)
      GROUP BY revision`);
    const pages: number[][] = [];
    for (let after = 1000; after < 1004; after = pages.flat().length + 1000) {
      const { changes } = (await json(`/changes?after=${after}`)) as {
        changes: { revision: number }[];
      };
      pages.push(changes.map(({ revision }) => revision));
    }
    expect(pages.flat()).toEqual([1001, 1002, 1003, 1004]);
    expect(pages.length).toBeGreaterThan(1);
    await harness.sql('DELETE FROM change WHERE revision > 1000');
  });

  it('serves the operations of a large change as they are stored', async () => {
    const [[before]] = await harness.sql('SELECT revision FROM config_head');
    const domains = Array.from({ length: 2_500 }, (_, i) => `d${i}.example.com`);
    await harness.call('POST', '/profile/2/bw_list/batch', { type: 'deny', domains });
    await harness.call('PATCH', '/profiles/2', { profile: { white_list_only: true } });
    const { changes } = (await json(`/changes?after=${String(before)}`)) as {
      changes: { operations: unknown[] }[];
    };
    const stored = await harness.sql(
      `SELECT revision::integer, digest, operations FROM change WHERE revision > ${String(before)} ORDER BY revision`,
    );
    expect(changes.map(Object.values)).toEqual(stored);
    expect(changes.map(({ operations }) => operations.length)).toEqual([2_500, 1]);
  });

  it('serves a consistent head and changes while changes are made', async () => {
    const profile = (on: boolean) => ({ profile: { white_list_only: on } });
    const { sql, call } = harness;
    const before = Number((await sql('SELECT revision FROM config_head'))[0][0]);
    const pages: { head: number; last: number }[] = [];
    let made = 0;
    const writing = (async () => {
      for (; made < 60 || pages.length < 4; made++)
        await call('PATCH', '/profiles/2', profile(made % 2 === 0));
    })();
    for (let after = before; pages.length < 4 || made < 60 || after < before + made;) {
      const response = await get(`/changes?after=${after}`);
      expect(response.status).toBe(200);
      const page = (await response.json()) as LogPage;
      const last = page.changes?.at(-1)?.revision ?? after;
      pages.push({ head: page.head.revision, last });
      after = last;
    }
    await writing;
    expect(pages.filter(({ head, last }) => head !== last)).toEqual([]);
    expect(pages.length).toBeGreaterThan(2);
  });
});
