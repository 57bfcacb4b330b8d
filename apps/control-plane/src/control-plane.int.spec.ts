import { StartError } from '@weir/ops';
import { freePort } from '@weir/ops/testing';
import { Agent, request } from 'node:http';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from './testing/harness.js';

describe('the control plane', () => {
  let harness: Harness;
  const ops = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}${path}`);
    return [response.status, await response.text()] as const;
  };

  beforeEach(async () => {
    harness = await startHarness();
  });
  afterEach(() => harness.stop());

  it('is live and ready', async () => {
    expect(await ops('/livez')).toEqual([200, 'ok\n']);
    expect(await ops('/readyz')).toEqual([200, 'ok\n']);
  });

  it('counts requests by route, and never by path', async () => {
    await harness.call('GET', '/net/3221226061');
    await harness.call('DELETE', '/profile/1/bw_list/secret.example.com');
    await harness.call('GET', '/nowhere/secret');
    const [, metrics] = await ops('/metrics');
    expect(metrics).toContain(
      'weir_management_requests_total{method="GET",route="/net/:int_ip",status="404"} 1',
    );
    expect(metrics).toContain('route="none",status="404"} 1');
    expect(metrics).toContain('weir_followers{kind="resolver"} 0');
    expect(metrics).toMatch(/^weir_config_revision [01]$/m);
    expect(metrics).not.toContain('secret');
    expect(metrics).not.toContain('3221226061');
  });

  it.each(['MANAGEMENT_PORT', 'FEED_PORT', 'OPS_PORT'])(
    'does not start when its %s is taken, and says so in one line',
    async (variable) => {
      const { managementPort } = harness.controlPlane;
      const start = harness.startReplica({ [variable]: String(managementPort) });
      const error: unknown = await start.then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(StartError);
      expect((error as StartError).message).toBe(
        `127.0.0.1:${managementPort} is in use by another process (${variable})`,
      );
    },
  );

  it('closes everything that a failed start has opened', async () => {
    // The pools of the other control plane grow and shrink meanwhile.
    const databaseUrl = new URL(harness.environment['DATABASE_URL']);
    databaseUrl.searchParams.set('application_name', 'failed-start');
    const connections = () =>
      harness.sql(
        "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'failed-start'",
      );
    const own = { DATABASE_URL: databaseUrl.href };
    const replica = await harness.startReplica(own);
    expect(await connections()).not.toEqual([[0]]);
    await replica.stop();
    await expect.poll(connections).toEqual([[0]]);
    const opsPort = await freePort();
    const taken = { FEED_PORT: String(harness.controlPlane.feedPort), OPS_PORT: String(opsPort) };
    await expect(harness.startReplica({ ...own, ...taken })).rejects.toThrow('(FEED_PORT)');
    await expect(fetch(`http://127.0.0.1:${opsPort}/livez`)).rejects.toThrow('fetch failed');
    await expect.poll(connections).toEqual([[0]]);
    expect(harness.logLines.join('')).not.toContain('"source":"nest"');
  });

  it('serves while its catalogue is being made, and finishes requests when it is stopped then', async () => {
    const blocker = new pg.Client(harness.environment['DATABASE_URL']);
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE catalogue_source; SELECT FROM config_head FOR UPDATE');
    const replica = await harness.launchReplica();
    const readiness = await fetch(`http://127.0.0.1:${replica.opsPort}/readyz`);
    expect(await readiness.text()).toBe('starting: the catalogue\n');
    const change = fetch(`http://127.0.0.1:${replica.managementPort}/blockpage/`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: 1, type: 0 }),
    });
    const waiting = `
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'config_head'`;
    await expect.poll(async () => (await harness.sql(waiting)).length).toBe(1);
    const stopped = replica.stop();
    await blocker.query('COMMIT');
    expect((await change).status).toBe(201);
    await stopped;
    await blocker.end();
  });

  it('finishes the requests in progress when it is stopped, and accepts no more', async () => {
    const blocker = new pg.Client(harness.environment['DATABASE_URL']);
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT FROM config_head FOR UPDATE');
    const inFlight = harness.call('POST', '/blockpage/', { id: 1, type: 0 });
    const waiting = `
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await harness.sql(waiting)).length).toBe(1);
    const stopped = harness.controlPlane.stop();
    const other = async () => harness.call('GET', '/blockpage/').catch(String);
    await expect.poll(other).toContain('fetch failed');
    await blocker.query('COMMIT');
    await blocker.end();
    expect((await inFlight).status).toBe(201);
    await stopped;
  });

  it('keeps an idle connection for longer than load balancers do, which use theirs for 60 s', async () => {
    const { headers } = await harness.call('GET', '/blockpage/');
    const [, seconds] = /^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
  });

  it('serves requests while it drains, closes each connection after its response, and is not ready', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const call = () =>
      new Promise<string | undefined>((resolve, reject) => {
        const url = `${harness.baseUrl}/blockpage/`;
        const sent = request(url, { agent, headers: harness.authorization }, (response) => {
          response.resume().once('end', () => resolve(response.headers.connection));
        });
        sent.once('error', reject).end();
      });
    expect(await call()).toBe('keep-alive');
    const { controlPlane } = harness;
    controlPlane.drain();
    expect(await ops('/readyz')).toEqual([503, 'stopping\n']);
    expect(await ops('/livez')).toEqual([200, 'ok\n']);
    // The first request uses the kept-alive connection, the others use new ones.
    for (let i = 0; i < 3; i++) expect(await call()).toBe('close');
    expect((await harness.call('POST', '/blockpage/', { id: 1, type: 0 })).status).toBe(201);
    await controlPlane.stop();
    await expect(call()).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });

  it('streams lists of any length, and releases its database connection when a client aborts', async () => {
    await harness.call('POST', '/profiles/', { profile: { id: 1 } });
    await harness.sql(`
      INSERT INTO ipv4_network (address, prefix_length, profile_id)
      SELECT inet '10.0.0.0' + i, 32, 1 FROM generate_series(1, 100000) AS i`);
    for (let i = 0; i < 12; i++) {
      const abort = new AbortController();
      const response = await fetch(`${harness.baseUrl}/net/`, {
        headers: harness.authorization,
        signal: abort.signal,
      });
      expect(response.status).toBe(200);
      abort.abort();
    }
    const head = await fetch(`${harness.baseUrl}/net/`, {
      method: 'HEAD',
      headers: harness.authorization,
    });
    expect(head.status).toBe(200);
    const all = await harness.call('GET', '/net/');
    expect((all.body as unknown[]).length).toBe(100_000);
  });
});
