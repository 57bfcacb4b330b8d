import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { type Harness, startHarness } from '../../testing/harness.js';
import { startTcpProxy, type TcpProxy } from '../../testing/tcp-proxy.js';

const WAIT = { timeout: 60_000, interval: 50 };

describe('while PostgreSQL is out of reach', () => {
  let proxy: TcpProxy;
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const ready = async () =>
    (await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}/readyz`)).status;

  beforeEach(async () => {
    const { hostname, port } = new URL(inject('databaseUrl'));
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  });
  afterEach(async () => {
    proxy.restore();
    await harness.stop();
    await proxy.stop();
  });

  it('every request gets 503 with Retry-After, nothing is changed, and it recovers by itself', async () => {
    harness = await startHarness({}, { databasePort: proxy.port });
    expect((await call('POST', '/blockpage/', { id: 1, type: 0 })).status).toBe(201);
    expect(await ready()).toBe(200);
    proxy.cut();
    for (const [method, path, body] of [
      ['GET', '/blockpage/'],
      ['GET', '/blockpage/1'],
      ['POST', '/blockpage/', { id: 2, type: 0 }],
      ['PATCH', '/blockpage/1', { type: 1 }],
      ['DELETE', '/blockpage/1'],
    ] as const) {
      const answer = await call(method, path, body);
      expect([method, path, answer.status, answer.headers.get('retry-after')]).toEqual([
        method,
        path,
        503,
        '1',
      ]);
      expect(answer.body).toEqual({ detail: expect.stringContaining('Nothing was changed') });
    }
    // Validation faults are still reported first.
    expect((await call('POST', '/blockpage/', {})).status).toBe(422);
    expect(await ready()).toBe(503);
    proxy.restore();
    await vi.waitFor(async () => {
      const answer = await call('GET', '/blockpage/');
      expect([answer.status, answer.body]).toEqual([200, [{ id: 1, type: 0 }]]);
    }, WAIT);
    await expect.poll(ready).toBe(200);
    expect((await call('POST', '/blockpage/', { id: 2, type: 0 })).status).toBe(201);
  });

  it('the connection of a started listing is closed, so that no client takes it for complete', async () => {
    harness = await startHarness({}, { databasePort: proxy.port });
    await call('POST', '/profiles/', { profile: { id: 1 } });
    await harness.sql(`
      INSERT INTO ipv4_network (address, prefix_length, profile_id)
      SELECT inet '10.0.0.0' + i, 32, 1 FROM generate_series(1, 100000) AS i`);
    const response = await fetch(`${harness.baseUrl}/net/`, { headers: harness.authorization });
    expect(response.status).toBe(200);
    const reader = response.body!.getReader();
    await reader.read();
    proxy.cut();
    const readAll = async () => {
      while (!(await reader.read()).done);
    };
    await expect(readAll()).rejects.toThrow();
  });

  it('a start waits for it before it activates the catalogue', async () => {
    proxy.cut();
    harness = await startHarness({}, { databasePort: proxy.port });
    expect([await ready(), (await call('GET', '/net/')).status]).toEqual([503, 503]);
    proxy.restore();
    await vi.waitFor(async () => {
      expect(await harness.sql('SELECT catalogue_version FROM config_head')).not.toEqual([[null]]);
    }, WAIT);
    await expect.poll(ready).toBe(200);
  });

  it.each(["PASSWORD 'the new one'", 'NOLOGIN'])(
    'so is one that refuses the role, as after ALTER ROLE … %s',
    async (change) => {
      harness = await startHarness();
      const { sql, environment, authorization } = harness;
      const role = `outage_${process.pid}`;
      const url = Object.assign(new URL(environment['DATABASE_URL']), {
        username: role,
        password: 'old',
      });
      await sql(`CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD 'old'`);
      const replica = await harness.startReplica({ DATABASE_URL: url.href });
      try {
        await sql(`ALTER ROLE ${role} ${change}`);
        await sql(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`,
        );
        const pages = `http://127.0.0.1:${replica.managementPort}/blockpage/`;
        const headers = { ...authorization, 'content-type': 'application/json' };
        const read = async () => (await fetch(pages, { headers })).status;
        const body = '{"id":1,"type":0}';
        const write = async () => (await fetch(pages, { method: 'POST', headers, body })).status;
        expect([await read(), await write()]).toEqual([503, 503]);
        await sql(`ALTER ROLE ${role} LOGIN PASSWORD 'old'`);
        await expect.poll(read).toBe(200);
        expect(await write()).toBe(201);
      } finally {
        await replica.stop();
        await sql(`DROP ROLE ${role}`);
      }
    },
  );

  it('a start waits until it is migrated', async () => {
    proxy.cut();
    harness = await startHarness({}, { databasePort: proxy.port });
    await harness.sql('ALTER SCHEMA public RENAME TO away');
    await harness.sql('CREATE SCHEMA public');
    proxy.restore();
    const why = async () =>
      (await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}/readyz`)).text();
    await expect.poll(why).toBe('the database is not migrated\n');
    await harness.sql('DROP SCHEMA public');
    await harness.sql('ALTER SCHEMA away RENAME TO public');
    await expect.poll(ready).toBe(200);
    await vi.waitFor(async () => {
      expect((await call('POST', '/blockpage/', { id: 1, type: 0 })).status).toBe(201);
    }, WAIT);
  });
});
