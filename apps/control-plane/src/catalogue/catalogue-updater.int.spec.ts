import { CatalogueImage } from '@weir/catalogue';
import { makeKey, startNamed, updateNamed, writeZone } from '@weir/catalogue/testing/primaries';
import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { needs } from '@weir/ops/testing';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Database } from '../platform/database/database.js';
import { ConfigurationWriter } from '../revisions/configuration-writer.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { HASH_KEY } from '../testing/harness.js';
import { type ListServer, startListServer } from '../testing/list-server.js';
import { RefreshMetrics, registerCatalogueGauges } from './catalogue-metrics.js';
import { CatalogueUpdater } from './catalogue-updater.js';
import { SourceRefresh } from './sources/source-refresh.js';
import { findImage } from './store/catalogue-store.js';
import { acceptHeld, readHeld } from './store/source-store.js';
import { DefinitionReader } from './worker/definition-reader.js';

const KEY = parseHashKey(HASH_KEY);
const NEVER = new AbortController().signal;
const ONE_TO_TEN = Array.from({ length: 10 }, (_, i) => `n${i}.example`);

const cutOff: RequestListener = (_request, response) => {
  response.writeHead(200, { 'Content-Length': 1_000 });
  response.write('n1.example\n', () => response.destroy());
};

describe('CatalogueUpdater', () => {
  let databaseUrl: string;
  let database: Database;
  let lists: ListServer;
  let folder: string;
  let updater: CatalogueUpdater;
  let registry: Registry;
  const logLines: string[] = [];
  const tsigKeys: string[] = [];
  const log = pino({}, { write: (line: string) => void logLines.push(line) });

  const startUpdater = (location = folder, timeoutMs = 30_000) => {
    registry = new Registry();
    const { pool } = database;
    const applied = { resolvers: 0, applied: 0 } as never;
    const propagation = {
      propagate: () => Promise.resolve(applied),
    };
    const writer = new ConfigurationWriter(database, propagation, {
      changeMs: 0,
      replacementMs: 0,
    });
    const limits = { timeoutMs, maxBytes: 100_000, tsigKeys };
    const metrics = new RefreshMetrics(registry);
    registerCatalogueGauges(registry, pool);
    const sources = new SourceRefresh({ pool, key: KEY, limits, metrics, log });
    const admit = () => Promise.resolve();
    updater = new CatalogueUpdater({
      definition: new DefinitionReader({ location, sets: [] }),
      key: KEY,
      database,
      writer,
      sources,
      admit,
      log,
    });
    return updater.start();
  };
  const define = (...sources: string[]) =>
    writeFile(
      join(folder, 'catalogue.yaml'),
      `categories:
  - id: 12
    name: Gambling
    domains: [inline.example]
    sources: [${sources.map((source) => `{ ${source} }`).join(', ')}]
`,
    );
  const url = (path: string) => `url: "${lists.url}${path}", format: domains, refresh: 1h`;
  const query = async (text: string) =>
    (await database.pool.query<never>(text)).rows as Record<string, unknown>[];
  /** Simulates that this time has passed. */
  const later = (seconds: number) =>
    query(
      `UPDATE catalogue_source SET last_attempt_at = last_attempt_at - interval '${seconds} s'`,
    );
  const refresh = async () => {
    await updater.refreshUrls(NEVER);
    await updater.update(NEVER);
  };
  const errorOf = async (name: string) =>
    (await query(`SELECT last_error FROM catalogue_source WHERE name = '${name}'`))[0]?.[
      'last_error'
    ];
  /** The list at `/a` is accepted, and then held because it has one name instead of ten. */
  const holdShrunkList = async () => {
    lists.serve('/a', ONE_TO_TEN);
    await define(url('/a'));
    await startUpdater();
    await refresh();
    lists.serve('/a', ['n1.example']);
    await later(3600);
    await refresh();
  };
  const accept = (name: string) => acceptHeld(database.pool, name);
  const revision = async () =>
    Number((await query('SELECT revision FROM config_head'))[0]['revision']);
  /** The image in force. */
  const imageInForce = async () => {
    const [{ sha256 }] = await query(
      'SELECT sha256 FROM config_head JOIN catalogue_image ON version = catalogue_version',
    );
    const image = await findImage(database.pool, String(sha256));
    const bytes = await Array.fromAsync(image!.read(0, image!.sizeBytes));
    return CatalogueImage.open(new Uint8Array(Buffer.concat(bytes)), KEY);
  };
  /** The names that are in the image in force. */
  const listed = async (...names: string[]) => {
    const catalogue = await imageInForce();
    const hashes = new SuffixHashes(KEY);
    return names.filter((name) => {
      const count = hashes.compute(toWireName(name), 0);
      return catalogue.find(hashes, count - 1) !== 0;
    });
  };

  beforeEach(async () => {
    logLines.length = 0;
    databaseUrl = await createFreshDatabase(inject('databaseUrl'));
    database = new Database(databaseUrl, log);
    lists = await startListServer();
    folder = await mkdtemp(join(tmpdir(), 'weir-catalogue-'));
  });
  afterEach(async () => {
    updater.stop();
    await lists.stop();
    await database.close();
    await dropDatabase(inject('databaseUrl'), databaseUrl);
    await rm(folder, { recursive: true });
  });

  it('starts without a request to a URL, and activates its list after its refresh', async () => {
    lists.serve('/a', ['a.example']);
    await define(url('/a'));
    await startUpdater();
    expect([await listed('inline.example', 'a.example'), lists.requests]).toEqual([
      ['inline.example'],
      [],
    ]);
    await refresh();
    expect(await listed('inline.example', 'a.example')).toEqual(['inline.example', 'a.example']);
  });

  it('says that a mirror has the list of a dead URL, and downloads it from there once', async () => {
    const mirror = `${lists.url}/mirror`;
    await define(`${url('/dead')}, mirrors: ["${mirror}"]`);
    lists.serve('/mirror', ['a.example']);
    await startUpdater();
    for (let i = 0; i < 3; i++) {
      await later(3600);
      await refresh();
    }
    expect(await listed('a.example')).toEqual(['a.example']);
    const asked = lists.requests.map(({ path, headers }) => [path, headers['if-none-match']]);
    const etag = expect.stringMatching(/^"/) as string;
    expect(asked).toEqual([
      ...[
        ['/dead', undefined],
        ['/mirror', undefined],
      ],
      ...[
        ['/dead', undefined],
        ['/mirror', etag],
      ],
      ...[
        ['/dead', undefined],
        ['/mirror', etag],
      ],
    ]);
    const select = `SELECT mirror, last_error, failures FROM catalogue_source WHERE name = '${lists.url}/dead'`;
    expect(await query(select)).toEqual([
      { mirror, last_error: 'answered 404 Not Found', failures: 0 },
    ]);
    expect(await registry.metrics()).toContain(`mirrored{source="${lists.url}/dead"} 1`);
    expect(await registry.metrics()).toContain(`failed{source="${lists.url}/dead"} 0`);
    const warned = logLines.filter((line) => line.includes('is read from a mirror'));
    expect(warned).toHaveLength(1);
    lists.serve('/dead', ['b.example']);
    await later(3600);
    await refresh();
    expect(lists.requests.at(-1)).toMatchObject({ path: '/dead', headers: {} });
    expect(await listed('a.example', 'b.example')).toEqual(['b.example']);
    expect(await query(select)).toEqual([{ mirror: null, last_error: null, failures: 0 }]);
    expect(await registry.metrics()).toContain(`mirrored{source="${lists.url}/dead"} 0`);
  });

  it('requests a URL again when it is due, and changes nothing for the same list', async () => {
    lists.serve('/a', ['a.example']);
    await define(url('/a'));
    await startUpdater();
    await refresh();
    await refresh();
    expect(lists.requests).toHaveLength(1);
    const before = await revision();
    await later(3600);
    await refresh();
    expect(lists.requests[1].headers['if-none-match']).toMatch(/^"/);
    // The list is sent again with the same content.
    await later(3600);
    lists.serve('/a', (_request, response) => response.end('a.example\n# the same\n'));
    await refresh();
    expect([lists.requests.length, await revision()]).toEqual([3, before]);
  });

  it('activates the added and the removed domains of a source', async () => {
    lists.serve('/a', ['a.example', 'b.example']);
    await define(url('/a'));
    await startUpdater();
    await refresh();
    lists.serve('/a', ['b.example', 'c.example']);
    await later(3600);
    await refresh();
    expect(await listed('a.example', 'b.example', 'c.example')).toEqual(['b.example', 'c.example']);
  });

  it('keeps the last accepted list of each failed source and reports it; other sources are updated', async () => {
    const faults: Record<string, [answer: Parameters<ListServer['serve']>[1], problem: string]> = {
      '/empty': [[], 'lists no domain'],
      '/shrunk': [ONE_TO_TEN.slice(0, 4), 'lists 4 domains, less than half of the 10'],
      '/missing': [(_, response) => response.writeHead(404).end(), 'answered 404'],
      '/failing': [(_, response) => response.writeHead(500).end(), 'answered 500'],
      '/cut-off': [cutOff, 'broke off'],
      '/mute': [() => undefined, 'within 5 s'],
      '/endless': [(_, response) => response.write('n1.example\n'), 'within 5 s'],
      '/large': [(_, response) => response.end('x'.repeat(100_001)), 'larger than 100000 bytes'],
      '/no-list': [(_, response) => response.end(Buffer.from('1f8b0800010203', 'hex')), 'gzip'],
    };
    const own = (path: string) => `of-${path.slice(1)}.example`;
    const paths = Object.keys(faults);
    for (const path of paths) lists.serve(path, [...ONE_TO_TEN.slice(1), own(path)]);
    lists.serve('/good', ['b.example']);
    await define(...paths.map(url), url('/good'));
    await startUpdater();
    await refresh();
    updater.stop();
    await startUpdater(folder, 5_000);
    for (const path of paths) lists.serve(path, faults[path][0]);
    lists.serve('/good', ['c.example']);
    await later(3600);
    await refresh();
    const kept = [...paths.map(own), 'c.example'];
    expect(await listed(...kept, 'b.example')).toEqual(kept);
    const metrics = await registry.metrics();
    const told = logLines.filter((line) => line.includes('cannot be used')).sort();
    for (const path of paths) {
      const source = lists.url + path;
      const problem = expect.stringContaining(faults[path][1]);
      expect(await errorOf(source)).toEqual(problem);
      const lines = told.filter((line) => line.includes(`"${source}"`));
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({ level: 40, problem }),
      ]);
      expect(metrics).toContain(`weir_catalogue_source_failed{source="${source}"} 1`);
      expect(metrics).toContain(`weir_catalogue_source_domains{source="${source}"} 10`);
    }
    expect(metrics).toContain(`weir_catalogue_source_failed{source="${lists.url}/good"} 0`);
    expect(metrics).toMatch(/weir_catalogue_source_age_seconds\{source="[^"]+\/good"\} \d/);
  });

  it('keeps what a hostile list provider lists from blocking a country, a registry or the portal', async () => {
    const hostile = [
      ...['com', 'uk', 'co.uk', 'foo.ck', 'XN--55QX5D.CN'],
      ...['provider.example', 'portal.provider.example', 'login.portal.provider.example'],
    ];
    lists.serve('/a', [...hostile, 'bad.example', 'other.provider.example']);
    await define(url('/a'));
    await writeFile(
      join(folder, 'catalogue.yaml'),
      `${await readFile(join(folder, 'catalogue.yaml'), 'utf8')}never_block: [portal.provider.example]\n`,
    );
    await startUpdater();
    await refresh();
    const taken = ['bad.example', 'other.provider.example'];
    expect(await listed(...hostile.map((name) => name.toLowerCase()), ...taken)).toEqual(taken);
    expect(await registry.metrics()).toContain(`invalid_lines{source="${lists.url}/a"} 5`);
    expect(await registry.metrics()).toContain(`protected_domains{source="${lists.url}/a"} 3`);
    const told = logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told).toContainEqual(
      expect.objectContaining({
        msg: 'a catalogue source lists names that would block those of never_block',
        names: 3,
        takenWithoutThemBy: [12],
        takenWholeBy: [],
      }),
    );
  });

  it('takes a list whole for a category of purpose legal and for an application', async () => {
    await writeFile(join(folder, 'a.txt'), 'portal.example\n');
    const sources = 'sources: [{ file: a.txt, format: domains }]';
    const never = 'never_block: [login.portal.example]';
    const categories = [`purpose: legal, ${sources}`, sources].map(
      (fields, id) => `{ id: ${id}, name: C${id}, ${fields} }`,
    );
    const application = `applications: [{ id: 5, name: A, ${sources} }]`;
    const yaml = `categories: [${categories.join(', ')}]\n${application}\n${never}`;
    await writeFile(join(folder, 'catalogue.yaml'), yaml);
    await startUpdater();
    const image = await imageInForce();
    expect(image.categories.map(({ domains }) => domains)).toEqual([1, 0]);
    expect(image.applications.map(({ domains }) => domains)).toEqual([1]);
    expect(logLines.join('')).toContain('"takenWithoutThemBy":[1],"takenWholeBy":[0]');
  });

  it('puts a new never_block in force for all lists, also while their URLs fail', async () => {
    await writeFile(join(folder, 'a.txt'), 'portal.example\nx.portal.example\na.example\n');
    lists.serve('/b', ['portal.example', 'x.portal.example', 'b.example']);
    await define('file: a.txt, format: domains', url('/b'));
    await startUpdater();
    await refresh();
    const names = ['portal.example', 'x.portal.example'];
    expect(await listed(...names)).toEqual(names);
    const yaml = await readFile(join(folder, 'catalogue.yaml'), 'utf8');
    await writeFile(join(folder, 'catalogue.yaml'), `${yaml}never_block: [portal.example]\n`);
    await updater.update(NEVER);
    // The names below it are known when the list is read, and it is read without a condition.
    expect(await listed(...names)).toEqual(['x.portal.example']);
    await refresh();
    expect(await listed(...names, 'a.example', 'b.example')).toEqual(['a.example', 'b.example']);
    await writeFile(join(folder, 'catalogue.yaml'), yaml);
    await refresh();
    expect(await listed(...names)).toEqual(names);
  });

  it.each([
    ['shrunk', ONE_TO_TEN.slice(0, 4)],
    ['grown', Array.from({ length: 41 }, (_, i) => `m${i}.example`)],
  ])('holds a list that has %s until somebody accepts it', async (_, changed) => {
    lists.serve('/a', ONE_TO_TEN);
    await define(url('/a'));
    await startUpdater();
    await refresh();
    lists.serve('/a', changed);
    await later(3600);
    await refresh();
    const name = `${lists.url}/a`;
    const before = await revision();
    expect(await listed(...ONE_TO_TEN)).toEqual(ONE_TO_TEN);
    const problem = expect.stringContaining(`lists ${changed.length} `);
    expect(await readHeld(database.pool)).toEqual([{ name, problem }]);
    expect(await accept(`${name}x`)).toBeNull();
    // It need not be there any more: what is taken is the list that was held.
    lists.serve('/a', (_request, response) => response.writeHead(500).end());
    expect(await accept(name)).toBe(changed.length);
    await updater.update(NEVER);
    expect(await listed(...changed)).toEqual(changed);
    expect([await revision(), await errorOf(name)]).toEqual([before + 1, null]);
    expect(await accept(name)).toBeNull();
    // The next list is compared with the accepted one.
    lists.serve('/a', changed.slice(1));
    await later(3600);
    await refresh();
    expect(await listed(...changed)).toEqual(changed.slice(1));
  });

  it('does not hold a list that somebody accepts while it is read again', async () => {
    const name = `${lists.url}/a`;
    await holdShrunkList();
    lists.serve('/a', (_request, response) => {
      void accept(name).then(() => response.end('n1.example\n'));
    });
    await later(3600);
    await refresh();
    expect(await readHeld(database.pool)).toEqual([]);
    expect(await errorOf(name)).toBeNull();
    expect(await listed(...ONE_TO_TEN)).toEqual(['n1.example']);
  });

  it('forgets a held list when its source is as it was', async () => {
    await holdShrunkList();
    lists.serve('/a', ONE_TO_TEN);
    await later(3600);
    await refresh();
    expect(await accept(`${lists.url}/a`)).toBeNull();
    expect(await errorOf(`${lists.url}/a`)).toBeNull();
  });

  it('takes a pinned list when it has the digest, whatever its length, and requests it once', async () => {
    const pin = (names: string[]) =>
      createHash('sha256')
        .update(names.map((name) => `${name}\n`).join(''))
        .digest('hex');
    lists.serve('/a', ONE_TO_TEN);
    await define(`${url('/a')}, sha256: ${pin(ONE_TO_TEN)}`);
    await startUpdater();
    await refresh();
    await later(36_000);
    await refresh();
    expect([await listed(...ONE_TO_TEN), lists.requests.length]).toEqual([ONE_TO_TEN, 1]);
    lists.serve('/a', ['evil.example']);
    await define(`${url('/a')}, sha256: ${pin(['good.example'])}`);
    await refresh();
    expect(await listed(...ONE_TO_TEN, 'evil.example')).toEqual(ONE_TO_TEN);
    expect(await errorOf(`${lists.url}/a`)).toMatch(/^has the sha256 [0-9a-f]{64}, not the /);
    lists.serve('/a', ['good.example']);
    await later(3600);
    await refresh();
    expect(await listed(...ONE_TO_TEN, 'good.example')).toEqual(['good.example']);
  });

  it('retries a failed source with growing delays, and uses it when it works again', async () => {
    await define(url('/a'));
    await startUpdater();
    await refresh();
    await refresh();
    expect(lists.requests).toHaveLength(1);
    await later(30);
    await refresh();
    expect(lists.requests).toHaveLength(2);
    lists.serve('/a', ['a.example']);
    await later(60);
    await refresh();
    expect([await listed('a.example'), await errorOf(`${lists.url}/a`)]).toEqual([
      ['a.example'],
      null,
    ]);
  });

  it('follows redirects', async () => {
    lists.serve('/a', (_request, response) => response.writeHead(302, { Location: '/b' }).end());
    lists.serve('/b', ['b.example']);
    await define(url('/a'));
    await startUpdater();
    await refresh();
    expect(await listed('b.example')).toEqual(['b.example']);
  });

  it('compiles from the last accepted lists when the sources are gone', async () => {
    lists.serve('/a', ['a.example']);
    await define(url('/a'));
    await startUpdater();
    await refresh();
    updater.stop();
    await writeFile(join(folder, 'extra.txt'), 'extra.example\n');
    await define(url('/gone'), url('/a'), 'file: extra.txt, format: domains');
    await startUpdater();
    expect(await listed('a.example', 'extra.example')).toEqual(['a.example', 'extra.example']);
    expect(lists.requests).toHaveLength(1);
  });

  it('keeps the list of a source for a week after it was named last, however long ago that was requested', async () => {
    lists.serve('/a', ['a.example']);
    await define(url('/a'));
    await startUpdater();
    await refresh();
    await later(30 * 86_400);
    const sources = () => query("SELECT name FROM catalogue_source WHERE name LIKE 'http%'");
    for (const [days, count] of [
      [0, 1],
      [6, 1],
      [2, 0],
    ]) {
      await define();
      await later(days * 86_400);
      await updater.update(NEVER);
      expect(await sources()).toHaveLength(count);
    }
  });

  it('uses a new file of the folder, and each change of it', async () => {
    await define();
    await startUpdater();
    await mkdir(join(folder, 'lists'));
    await writeFile(join(folder, 'lists/new.txt'), 'a.example\n');
    await define('file: lists/new.txt, format: domains');
    await updater.update(NEVER);
    expect(await listed('a.example')).toEqual(['a.example']);
    await writeFile(join(folder, 'lists/new.txt'), 'a.example\nb.example\n');
    await updater.update(NEVER);
    expect(await listed('a.example', 'b.example')).toEqual(['a.example', 'b.example']);
    await rm(join(folder, 'lists/new.txt'));
    await updater.update(NEVER);
    expect(await listed('a.example', 'b.example')).toEqual(['a.example', 'b.example']);
    expect(await errorOf('lists/new.txt')).toContain('cannot be read: ENOENT');
    expect(await registry.metrics()).toContain('source="lists/new.txt"');
    await define();
    await updater.update(NEVER);
    expect(await listed('inline.example', 'a.example')).toEqual(['inline.example']);
    expect(await registry.metrics()).not.toContain('source="lists/new.txt"');
  });

  it('activates rewrites, and each change of them', async () => {
    await define();
    await startUpdater();
    const before = await revision();
    const targetOf = async (name: string) => {
      const hashes = new SuffixHashes(KEY);
      hashes.compute(toWireName(name), 0);
      const [rewrite] = (await imageInForce()).rewritesOf(hashes);
      return rewrite === undefined ? null : Buffer.from(rewrite.target).toString('latin1');
    };
    for (const to of ['safe', 'strict']) {
      const rewrites = `[{ to: ${to}.example, names: [www.search.example] }]`;
      await writeFile(
        join(folder, 'catalogue.yaml'),
        `categories: [{ id: 21, name: Search, rewrites: ${rewrites} }]`,
      );
      await refresh();
      expect(await targetOf('www.search.example')).toContain(to);
    }
    expect(await targetOf('search.example')).toBeNull();
    expect(await revision()).toBe(before + 2);
  });

  it('keeps the catalogue in force while the definition is invalid, and logs that once', async () => {
    await define();
    await startUpdater();
    await writeFile(join(folder, 'catalogue.yaml'), 'categories: 7');
    await updater.update(NEVER);
    await updater.update(NEVER);
    expect(await listed('inline.example')).toEqual(['inline.example']);
    expect(logLines.filter((line) => line.includes('must be a list'))).toHaveLength(1);
    expect(await registry.metrics()).toContain(
      'weir_catalogue_source_failed{source="catalogue.yaml"} 1',
    );
    await define();
    await updater.update(NEVER);
    expect(await errorOf('catalogue.yaml')).toBeNull();
  });

  it('reports a text of the definition that cannot be stored', async () => {
    await startUpdater();
    for (const name of ['"a\\0.txt"', '"a\\ud800.txt"']) {
      await define(`file: ${name}, format: domains`);
      await updater.update(NEVER);
      expect(await errorOf('catalogue.yaml')).toMatch(/^catalogue\.yaml:5: .*must not have NUL/);
    }
  });

  it('logs once that a stored list is damaged, and compiles when it is replaced', async () => {
    await writeFile(join(folder, 'a.txt'), 'a.example\n');
    await define('file: a.txt, format: domains');
    await startUpdater();
    await query(
      'UPDATE catalogue_source SET names = set_byte(names, 39, 255 - get_byte(names, 39))',
    );
    await query('UPDATE catalogue_image SET inputs_sha256 = NULL');
    await updater.update(NEVER);
    await updater.update(NEVER);
    expect(await errorOf('catalogue.yaml')).toContain('checksum is wrong');
    expect(logLines.filter((line) => line.includes('checksum is wrong'))).toHaveLength(1);
    await writeFile(join(folder, 'a.txt'), 'b.example\n');
    await updater.update(NEVER);
    expect([await listed('b.example'), await errorOf('catalogue.yaml')]).toEqual([
      ['b.example'],
      null,
    ]);
  });

  it('follows a definition that is a URL, and the files beside it', async () => {
    lists.serve('/set/catalogue.yaml', (_request, response) => response.writeHead(503).end());
    await startUpdater(`${lists.url}/set`);
    const yaml = 'categories: [{ id: 1, name: A, sources: [{ file: a.txt, format: domains }] }]';
    lists.serve('/set/catalogue.yaml', (_request, response) => response.end(yaml));
    lists.serve('/set/a.txt', ['a.example']);
    await refresh();
    expect(await listed('a.example')).toEqual(['a.example']);
  });

  it('has gauges of the domains of each category and application', async () => {
    await define();
    await startUpdater();
    expect(await registry.metrics()).toContain('weir_catalogue_category_domains{category="12"} 1');
  });

  it('records what a server says also when that has control characters', async () => {
    lists.serve('/a', (_request, { socket }) => socket?.end('HTTP/1.1 500 No\0thing\r\n\r\n'));
    await define(url('/a'));
    await startUpdater();
    await updater.refreshUrls(NEVER);
    expect(await errorOf(`${lists.url}/a`)).toBe('answered 500 No thing');
  });

  it('aborts a download when it is stopped', async () => {
    lists.serve('/a', () => undefined);
    await define(url('/a'));
    await startUpdater();
    const stopping = new AbortController();
    const refreshing = updater.refreshUrls(stopping.signal);
    await expect.poll(() => lists.requests.length).toBe(1);
    expect(await registry.metrics()).toContain('weir_catalogue_refreshing 1');
    stopping.abort(new Error('stopped by this test'));
    await expect(refreshing).rejects.toThrow('stopped by this test');
    expect(await registry.metrics()).toContain('weir_catalogue_refreshing 0');
    expect(await errorOf(`${lists.url}/a`)).toBeUndefined();
  });

  it(
    'follows a zone by its changes, and holds it back when they remove more than half',
    needs('named', 'tsig-keygen', 'nsupdate'),
    async () => {
      const zone = 'rpz.zone.example';
      const names = Array.from({ length: 40 }, (_, i) => `n${i}.example`);
      const key = makeKey('feed.example', 'hmac-sha256');
      tsigKeys.splice(0, 1, key.text);
      writeZone(
        folder,
        zone,
        names.map((name) => `${name} CNAME .`),
      );
      const named = await startNamed(folder, [zone], [key]);
      try {
        const url = `rpz://127.0.0.1:${named.port}/${zone}?key=${key.name}`;
        await define(`url: "${url}", format: rpz, refresh: 1h`);
        await startUpdater();
        await later(3_600);
        await refresh();
        expect(await listed('n0.example', 'new.example')).toEqual(['n0.example']);
        const update = async (...changes: string[]) => {
          const lines = changes.map((change) => `update ${change}`);
          updateNamed(named, key, zone, lines);
          await later(3_600);
          await refresh();
        };
        const transfers = () =>
          logLines.flatMap((line) => {
            const { transfer } = JSON.parse(line) as { transfer?: { isIncremental: boolean } };
            return transfer === undefined ? [] : [transfer.isIncremental];
          });
        await update(`add new.example.${zone} 60 CNAME .`, `delete n0.example.${zone}`);
        expect(await listed('n0.example', 'n1.example', 'new.example')).toEqual([
          'n1.example',
          'new.example',
        ]);
        expect(transfers()).toEqual([false, true]);
        await update(...names.slice(10).map((name) => `delete ${name}.${zone}`));
        const [{ name, problem }] = await readHeld(database.pool);
        expect(problem).toContain('lists 10 domains, less than half of the 40 before');
        expect(await listed('n15.example')).toEqual(['n15.example']);
        // Also while it is held, changes are those since the list in force.
        await update(`add late.example.${zone} 60 CNAME .`);
        expect(await accept(name)).toBe(11);
        await update(`delete new.example.${zone}`);
        expect(await listed('n1.example', 'n15.example', 'new.example', 'late.example')).toEqual([
          'n1.example',
          'late.example',
        ]);
        expect(transfers()).toEqual([false, true, true]);
      } finally {
        await named.stop();
      }
    },
  );
});
