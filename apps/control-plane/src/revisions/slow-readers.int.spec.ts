import { speakerOf } from '@weir/change-feed/testing';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { FEED_TOKEN, type Harness, startHarness, TOKEN } from '../testing/harness.js';

/** More than the connections of a replica to PostgreSQL. */
const READERS = 14;
const WAIT = { timeout: 60_000, interval: 100 };

describe('clients that read long responses', () => {
  let harness: Harness;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    harness = await startHarness();
    await harness.call('POST', '/profiles/', { profile: { id: 1 } });
    // Much more than the buffers of a connection can hold.
    await harness.sql(`
      INSERT INTO ipv4_network (address, prefix_length, profile_id)
      SELECT inet '10.0.0.0' + i, 32, 1 FROM generate_series(1, 300000) AS i`);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => harness.stop());

  const open = (port: number, path: string, token: string): Socket => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return socket;
  };
  const inTransaction = async () => {
    const rows = await harness.sql(`
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'`);
    return Number(rows[0][0]);
  };
  const expectService = async () => {
    expect((await harness.call('GET', '/profiles/1')).status).toBe(200);
    expect((await harness.call('PATCH', '/profiles/1', { cat_ids: [2] })).status).toBe(200);
    const feed = { headers: { Authorization: `Bearer ${FEED_TOKEN}` } };
    expect((await fetch(`${harness.feedUrl}/changes?after=0`, feed)).status).toBe(200);
    const ready = await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}/readyz`);
    expect(ready.status).toBe(200);
  };

  it('leave no open connection when they disconnect', async () => {
    for (let i = 0; i < 60; i++) {
      const socket = open(harness.controlPlane.managementPort, '/net/', TOKEN);
      await sleep(i % 20);
      socket.destroy();
    }
    await vi.waitFor(async () => expect(await inTransaction()).toBe(0), WAIT);
    // A call that came just before its connection was lost counts among the token's calls at once until it is noticed.
    await vi.waitFor(async () => {
      expect((await harness.call('GET', '/profiles/1')).status).toBe(200);
    }, WAIT);
    await expectService();
  });

  it('do not slow down others when they stop reading lists', async () => {
    const { managementPort } = harness.controlPlane;
    for (let i = 0; i < READERS; i++) open(managementPort, '/net/', TOKEN).pause();
    await vi.waitFor(async () => expect(await inTransaction()).toBeGreaterThan(3), WAIT);
    await sleep(500);
    await expectService();
  });

  it('of snapshots hold no transaction open', async () => {
    const { feedPort } = harness.controlPlane;
    // While the snapshot is made for long, the answer is 503.
    const headers = { Authorization: `Bearer ${FEED_TOKEN}` };
    await vi.waitFor(async () => {
      const response = await fetch(`${harness.feedUrl}/snapshot?atLeast=0`, { headers });
      await response.body?.cancel();
      expect(response.status).toBe(200);
    }, WAIT);
    const readers = Array.from({ length: READERS }, () =>
      open(feedPort, '/snapshot?atLeast=0', FEED_TOKEN),
    );
    await Promise.all(readers.map((reader) => once(reader, 'readable')));
    await vi.waitFor(async () => expect(await inTransaction()).toBe(0), WAIT);
    await expectService();
  });

  it('give way when others want a list', async () => {
    // All connections for lists, and some that wait.
    for (let i = 0; i < 16; i++) {
      const token = i % 2 === 0 ? TOKEN : 'second-token-of-the-tests';
      open(harness.controlPlane.managementPort, '/net/', token).pause();
    }
    await vi.waitFor(async () => expect(await inTransaction()).toBeGreaterThan(11), WAIT);
    const paths = ['/profiles/', '/blockpage/', '/net6/', '/profiles/'];
    const isListed = async (path: string) =>
      vi.waitFor(async () => expect((await harness.call('GET', path)).status).toBe(200), WAIT);
    await Promise.all(paths.map(isListed));
  });

  it('and slow resolvers do not delay the response to a change when the replica stops', async () => {
    const redis = new Redis(harness.environment['REDIS_URL']);
    const [[lineage]] = await harness.sql('SELECT lineage FROM config_head');
    const inForce = { lineage, revision: 0, digest: '0'.repeat(16) };
    const lagging = { id: 'lagging', kind: 'resolver', name: null, inForce, feedVersion: 1 };
    const say = speakerOf(harness.deployment);
    const speak = () => say(redis, 'follower', JSON.stringify(lagging));
    const speaking = setInterval(() => void speak(), 500);
    const replica = await harness.startReplica({ PROPAGATION_TIMEOUT_MS: '600000' });
    await vi.waitFor(async () => {
      const metrics = await fetch(`http://127.0.0.1:${replica.opsPort}/metrics`);
      expect(await metrics.text()).toContain('weir_followers{kind="resolver"} 1');
    }, WAIT);
    open(replica.feedPort, '/snapshot?atLeast=0', FEED_TOKEN).pause();
    open(replica.managementPort, '/net/', TOKEN).pause();
    const answer = fetch(`http://127.0.0.1:${replica.managementPort}/blockpage/`, {
      method: 'POST',
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: 9, type: 0 }),
    });
    await vi.waitFor(async () => {
      expect(await harness.sql('SELECT FROM block_page WHERE id = 9')).toHaveLength(1);
    }, WAIT);
    // It takes seconds, and not the ten minutes that the change would wait.
    await replica.stop();
    clearInterval(speaking);
    redis.disconnect();
    const { status, headers } = await answer;
    expect([status, headers.get('x-config-applied')]).toEqual([201, '0/1']);
  });
});
