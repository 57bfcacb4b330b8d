import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { actAs } from '../../revisions/change-record.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { type Harness, startHarness } from '../../testing/harness.js';
import { startTcpProxy, type TcpProxy } from '../../testing/tcp-proxy.js';
import { isDatabaseUnreachable } from './database-errors.js';
import { Database } from './database.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };

/** Skips the COMMIT of an earlier read. */
const LOGGED = { once: 'weir_log_changes' };

const startProxy = (): Promise<TcpProxy> => {
  const { hostname, port } = new URL(inject('databaseUrl'));
  return startTcpProxy({ host: hostname, port: Number(port) });
};

describe('when the connection breaks during a COMMIT', () => {
  let proxy: TcpProxy;
  let harness: Harness;

  beforeEach(async () => {
    proxy = await startProxy();
    harness = await startHarness({}, { databasePort: proxy.port });
  });
  const revision = async () =>
    Number((await harness.sql('SELECT revision FROM config_head'))[0][0]);
  afterEach(async () => {
    await harness.stop();
    await proxy.stop();
  });

  const requests = [
    ['POST', '/blockpage/', { id: 7, type: 1 }, 201],
    ['POST', '/init/', { ...EMPTY, blockpages: [{ id: 7, type: 1 }] }, 204],
  ] as const;

  it.each(requests)(
    '%s %s succeeds if the COMMIT reached PostgreSQL',
    async (method, path, body, success) => {
      const before = await revision();
      proxy.breakAt('COMMIT', 'after', LOGGED);
      const answer = await harness.call(method, path, body);
      expect([answer.status, answer.headers.get('x-config-revision')]).toEqual([
        success,
        String(before + 1),
      ]);
      expect(await revision()).toBe(before + 1);
    },
  );

  it.each(requests)(
    '%s %s gets 503 and changes nothing if the COMMIT did not reach PostgreSQL',
    async (method, path, body, success) => {
      const before = await revision();
      proxy.breakAt('COMMIT', 'before', LOGGED);
      const answer = await harness.call(method, path, body);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      expect(answer.body).toEqual({ detail: expect.stringContaining('Nothing was changed') });
      expect(await revision()).toBe(before);
      expect((await harness.call(method, path, body)).status).toBe(success);
    },
  );

  it.each(requests)(
    '%s %s gets 504 and no word about a retry if the database stays out of reach',
    async (method, path, body) => {
      proxy.breakAt('COMMIT', 'after', { ...LOGGED, staysAway: true });
      const answer = await harness.call(method, path, body);
      proxy.restore();
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([504, null]);
      expect(answer.body).toEqual({
        detail: expect.stringContaining('Read whether the change was made before you repeat it'),
      });
      expect(harness.logLines.join('')).toContain('request answered with 504');
    },
  );

  it('gets 504 if the database is then a standby that has not received the COMMIT yet', async () => {
    await harness.call('POST', '/blockpage/', { id: 1, type: 1 });
    const name = new URL(harness.environment['DATABASE_URL']).pathname.slice(1);
    // For the connections from now on.
    await harness.sql(`
      CREATE FUNCTION public.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true';
      CREATE FUNCTION public.pg_xact_status(xid8) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'is in the future' USING ERRCODE = '22023'; END $$;
      ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
    proxy.breakAt('COMMIT', 'after', { ...LOGGED, staysAway: true });
    const answered = harness.call('POST', '/blockpage/', { id: 7, type: 1 });
    await expect.poll(() => harness.sql('SELECT FROM block_page WHERE id = 7')).toHaveLength(1);
    proxy.restore();
    expect((await answered).status).toBe(504);
    // It may lack changes.
    expect((await harness.call('GET', '/blockpage/')).status).toBe(503);
    await harness.sql('DROP FUNCTION public.pg_is_in_recovery(), public.pg_xact_status(xid8)');
    expect((await harness.call('GET', '/blockpage/')).status).toBe(200);
  });
});

describe('a PostgreSQL that accepts packets but never answers', () => {
  it('blocks nobody for long, and is used again when it answers', async () => {
    const proxy = await startProxy();
    const url = await createFreshDatabase(inject('databaseUrl'));
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    const database = new Database(proxied.href, pino({ level: 'silent' }));
    const writer = new ConfigurationWriter(
      database,
      {
        propagate: () => Promise.resolve({ applied: 0, total: 0 }),
      },
      { changeMs: 0, replacementMs: 0 },
    );
    const write = (): Promise<unknown> =>
      actAs({ origin: 'repair' }, () =>
        writer.write({ need: () => undefined, make: () => ({ result: null, changes: [] }) }),
      );
    await write();
    proxy.freeze();
    // Long before TCP would give up.
    const failures = await Promise.all(
      [write(), database.pool.query('SELECT 1')].map((one) => one.catch((error: unknown) => error)),
    );
    expect(failures.map(isDatabaseUnreachable)).toEqual([true, true]);
    proxy.restore();
    await write();
    // An idle connection without a query does not time out.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(database.connections('idleCount')).toBeGreaterThan(0);
    await write();
    // The watch goes on after a time without a query.
    proxy.freeze();
    await expect(write()).rejects.toSatisfy(isDatabaseUnreachable);
    proxy.restore();
    await write();
    await database.close();
    await proxy.stop();
    await dropDatabase(inject('databaseUrl'), url);
  });
});
