import { Redis } from 'ioredis';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { FeedClient } from './client/feed-client.js';
import { createFeedServer } from './server/feed-server.js';
import { Follower } from './follower/follower.js';
import { ChangePublisher } from './publisher/change-publisher.js';
import type { FeedLogger } from './runtime/runtime.js';
import { MemoryLog, MemoryTarget } from './testing/memory-log.js';
import { accepts, deploymentOf } from './testing/deployment.js';
import { startPrivateRedis } from './testing/private-redis.js';
import { startRedisProxy } from './testing/redis-proxy.js';

const TOKEN = 'feed-token-of-half-open-connections';
const quiet: FeedLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const WAIT = { timeout: 60_000, interval: 100 };
/** Longer than a lease. */
const LONG_MS = 5_000;
/** So long a write waits that may not be acknowledged. */
const SOON_MS = 3_000;
const EVERYWHERE = { applied: 1, total: 1 };

/** A publisher and a follower of kind resolver, at the head, on a Redis of their own. */
async function deploy({ onTestFinished }: TestContext) {
  const redis = await startPrivateRedis();
  const proxy = await startRedisProxy(redis.port);
  const log = new MemoryLog();
  const server = createFeedServer({
    source: log,
    isAuthorised: accepts(TOKEN),
    log: quiet,
    isOutage: () => false,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const common = { redisUrl: proxy.url, deployment: deploymentOf(TOKEN), log: quiet };
  const readHead = () => log.head();
  const publisher = new ChangePublisher({ ...common, readHead });
  await publisher.start();
  const target = new MemoryTarget();
  const feed = new FeedClient(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    () => TOKEN,
  );
  const follower = new Follower({ ...common, id: 'one', kind: 'resolver', feed, target });
  await follower.start();
  const closeFeed = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(async () => {
    await follower.stop();
    await publisher.stop();
    closeFeed();
    await proxy.stop();
    await redis.stop();
  });
  const write = async (waitMs = WAIT.timeout) => {
    const change = log.commit(log.revision, 1);
    await publisher.publish([change]);
    return publisher.waitApplied(change, waitMs);
  };
  expect(await write()).toEqual(EVERYWHERE);
  return { redis, proxy, log, publisher, target, write, closeFeed };
}

describe.concurrent('a half-open connection to Redis', () => {
  it('of the publisher as subscriber: it keeps the followers whose messages it cannot receive', async (test) => {
    const { proxy, write } = await deploy(test);
    proxy.stopForwarding('weir-acknowledgements');
    const untilMs = performance.now() + LONG_MS;
    while (performance.now() < untilMs) {
      expect(await write(SOON_MS)).toMatchObject({ total: 1 });
      await sleep(100);
    }
    expect(await write()).toEqual(EVERYWHERE);
  });

  it('of the publisher for commands: it reconnects', async (test) => {
    const { proxy, publisher, write } = await deploy(test);
    proxy.stopForwarding('weir-publisher');
    await sleep(LONG_MS);
    await vi.waitFor(() => expect(publisher.connected).toBe(true), WAIT);
    expect(await write()).toEqual(EVERYWHERE);
  });

  it('of a follower as subscriber: it receives changes again without the feed API', async (test) => {
    const { redis, proxy, log, target, write, closeFeed } = await deploy(test);
    const admin = new Redis(redis.url);
    proxy.stopForwarding('weir-resolver');
    await vi.waitFor(() => expect(proxy.connectionCount('weir-resolver')).toBeGreaterThan(1), WAIT);
    // The first subscription has ended, and the next one has begun.
    await vi.waitFor(async () => {
      const clients = String(await admin.call('CLIENT', 'LIST')).split('\n');
      const subscribers = clients.filter((client) => client.includes('name=weir-resolver '));
      expect(subscribers).toEqual([expect.stringContaining(' sub=2 ')]);
    }, WAIT);
    admin.disconnect();
    closeFeed();
    expect(await write()).toEqual(EVERYWHERE);
    expect(target.verdicts()).toEqual(log.verdicts());
  });

  it('of a follower for commands: writes wait for it again', async (test) => {
    const { proxy, write } = await deploy(test);
    proxy.stopForwarding('weir-resolver-state');
    await sleep(LONG_MS);
    await vi.waitFor(async () => expect(await write()).toEqual(EVERYWHERE), WAIT);
  });

  it('and a Redis that pauses writes, as in a failover: the publisher keeps all followers', async (test) => {
    const { redis, write } = await deploy(test);
    const admin = new Redis(redis.url);
    await admin.call('CLIENT', 'PAUSE', String(LONG_MS), 'WRITE');
    const untilMs = performance.now() + LONG_MS;
    while (performance.now() < untilMs) {
      expect(await write(SOON_MS)).toMatchObject({ total: 1 });
      await sleep(100);
    }
    admin.disconnect();
    await vi.waitFor(async () => expect(await write()).toEqual(EVERYWHERE), WAIT);
  });

  it('and a Redis that has become a replica: both ends connect to the new primary', async (test) => {
    const { redis, proxy, write } = await deploy(test);
    const primary = await startPrivateRedis();
    const [old, other] = [new Redis(redis.url), new Redis(primary.url)];
    test.onTestFinished(async () => {
      old.disconnect();
      other.disconnect();
      await primary.stop();
    });
    const clientsOf = async (admin: Redis) => String(await admin.call('CLIENT', 'LIST'));
    proxy.redirectTo(primary.port);
    await old.replicaof('127.0.0.1', primary.port);
    await vi.waitFor(async () => {
      const there = await clientsOf(other);
      for (const name of ['publisher', 'acknowledgements', 'resolver', 'resolver-state'])
        expect(there).toContain(`name=weir-${name} `);
      expect(await clientsOf(old)).not.toContain('name=weir-');
    }, WAIT);
    await vi.waitFor(async () => expect(await write()).toEqual(EVERYWHERE), WAIT);
  });
});
