import { startPrivateRedis } from '@weir/change-feed/testing';
import { freePort } from '@weir/ops/testing';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { type Harness, startHarness } from '../testing/harness.js';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.js';

const WORDS_OF_AN_ERROR = /select|config_head|econn|refused|timeout|weir_|127\.0\.0\.1|\d{4}/i;

describe('a control plane', () => {
  let proxy: TcpProxy;
  let harness: Harness;
  const cleanups: (() => unknown)[] = [];
  const get = async (port: number, path: string, host = '127.0.0.1') => {
    const response = await fetch(`http://${host}:${port}${path}`);
    return [response.status, await response.text()];
  };
  const readiness = (controlPlane: Pick<ControlPlane, 'opsPort'> = harness.controlPlane) =>
    get(controlPlane.opsPort, '/readyz');
  const startReplica = async (variables: Record<string, string>) => {
    const replica = await harness.startReplica(variables);
    cleanups.push(() => replica.stop());
    return replica;
  };

  beforeEach(async () => {
    const { hostname, port } = new URL(inject('databaseUrl'));
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    harness = await startHarness({}, { databasePort: proxy.port });
  });
  afterEach(async () => {
    proxy.restore();
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    await harness.stop();
    await proxy.stop();
  });

  it('stays ready without Redis, and reports it as degraded', async () => {
    const redis = await startPrivateRedis();
    const replica = await startReplica({ REDIS_URL: redis.url });
    await expect.poll(() => readiness(replica)).toEqual([200, 'ok\n']);
    await redis.stop();
    const withoutRedis = [200, 'ok\ndegraded: Redis is out of reach\n'];
    await expect.poll(() => readiness(replica)).toEqual(withoutRedis);
    expect((await get(replica.opsPort, '/metrics'))[1]).toMatch(/^weir_redis_connected 0$/m);
    const response = await fetch(`http://127.0.0.1:${replica.managementPort}/blockpage/`, {
      method: 'POST',
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: 1, type: 0 }),
    });
    expect(response.status).toBe(201);
    const nowhere = await startReplica({ REDIS_URL: 'redis://127.0.0.1:1' });
    expect(await readiness(nowhere)).toEqual(withoutRedis);
  });

  it('is not ready without PostgreSQL, and recovers by itself', async () => {
    expect(await readiness()).toEqual([200, 'ok\n']);
    proxy.cut();
    const [status, text] = await readiness();
    expect([status, text]).toEqual([503, 'PostgreSQL is out of reach\n']);
    expect(text).not.toMatch(WORDS_OF_AN_ERROR);
    expect(await get(harness.controlPlane.opsPort, '/livez')).toEqual([200, 'ok\n']);
    proxy.restore();
    await expect.poll(() => readiness()).toEqual([200, 'ok\n']);
    expect(harness.logLines.filter((line) => line.includes('"not ready"'))).toHaveLength(1);
  });

  it('is not ready within seconds when PostgreSQL hangs', async () => {
    proxy.freeze();
    const answers = await Promise.all(Array.from({ length: 20 }, () => readiness()));
    for (const answer of answers) expect(answer).toEqual([503, 'PostgreSQL does not answer\n']);
    const [, metrics] = await get(harness.controlPlane.opsPort, '/metrics');
    expect(metrics).toMatch(/^weir_ready 0$/m);
    expect(metrics).toMatch(/^weir_database_reachable 0$/m);
    expect(await get(harness.controlPlane.opsPort, '/livez')).toEqual([200, 'ok\n']);
  });

  it('is not ready when the tables are missing', async () => {
    await harness.sql('ALTER TABLE config_head RENAME TO config_head_gone');
    expect(await readiness()).toEqual([503, 'the database is not migrated\n']);
    await harness.sql('ALTER TABLE config_head_gone RENAME TO config_head');
    expect(await readiness()).toEqual([200, 'ok\n']);
  });

  it('reports during a long start why it is not ready', async () => {
    proxy.freeze();
    const port = await freePort();
    const starting = startReplica({ OPS_PORT: String(port) });
    await expect.poll(() => get(port, '/readyz').catch(() => null)).toEqual([503, 'starting\n']);
    expect(await get(port, '/livez')).toEqual([200, 'ok\n']);
    proxy.restore();
    await starting;
  });

  it('serves health and the feed at their own addresses', async () => {
    const replica = await startReplica({ OPS_HOST: '127.0.0.2', FEED_HOST: '127.0.0.3' });
    const { opsPort, feedPort, managementPort } = replica;
    expect(await get(opsPort, '/readyz', '127.0.0.2')).toEqual([200, 'ok\n']);
    expect((await get(feedPort, '/snapshot', '127.0.0.3'))[0]).toBe(401);
    expect((await get(managementPort, '/profiles/'))[0]).toBe(401);
    // What listens on all addresses listens on this one too, which no other test uses.
    const elsewhere = [opsPort, feedPort].map((port) => listens(port, '127.0.0.4'));
    expect(await Promise.all(elsewhere)).toEqual([false, false]);
  });
});

function listens(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket
      .once('error', () => resolve(false))
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      });
  });
}
