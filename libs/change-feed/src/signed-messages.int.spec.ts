import { Redis } from 'ioredis';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FeedClient } from './client/feed-client.js';
import { Follower } from './follower/follower.js';
import { type Deployment, DeploymentMessages, redisNames } from './protocol/signed-messages.js';
import { ChangePublisher } from './publisher/change-publisher.js';
import { createFeedServer } from './server/feed-server.js';
import { MemoryLog, MemoryTarget } from './testing/memory-log.js';
import { type PrivateRedis, startPrivateRedis } from './testing/private-redis.js';
import { accepts } from './testing/deployment.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const [OLD, NEW] = ['the-old-token-of-the-feed', 'the-new-token-of-the-feed'];
const WAIT_MS = 60_000;
const EVERYWHERE = { applied: 1, total: 1 };

describe('messages on Redis', () => {
  let redis: PrivateRedis;
  /** The connection of somebody who can write to Redis. */
  let client: Redis;
  let log: MemoryLog;
  let server: Server;
  const cleanups: (() => unknown)[] = [];
  let number = 0;

  const deployment = (options: Partial<Deployment> & { list?: string[] } = {}) => {
    const list = options.list ?? [OLD];
    return { id: 'deployment', tokens: () => list, ...options };
  };
  const publish = async (shared: Deployment): Promise<ChangePublisher> => {
    const readHead = () => log.head();
    const options = { redisUrl: redis.url, deployment: shared, readHead, log: quiet };
    const publisher = new ChangePublisher({ ...options, missingResolverMs: 60_000 });
    cleanups.push(() => publisher.stop());
    await publisher.start();
    return publisher;
  };
  const follow = async (shared: Deployment) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const target = new MemoryTarget();
    const feed = new FeedClient(url, () => shared.tokens()[0]);
    const id = `follower-${++number}`;
    const common = { redisUrl: redis.url, deployment: shared, log: quiet };
    const follower = new Follower({ ...common, id, kind: 'resolver', feed, target });
    let isStopped = false;
    const stop = async () => {
      if (!isStopped) await follower.stop();
      isStopped = true;
    };
    cleanups.push(stop);
    await follower.start();
    return { follower, target, stop };
  };
  const write = async (publisher: ChangePublisher, id: number) => {
    const change = log.commit(id, 1);
    await publisher.publish([change]);
    return publisher.waitApplied(change, WAIT_MS);
  };
  /** What is said on the channels, as it is said. */
  const record = async (...channels: string[]) => {
    const messages: { channel: string; message: string }[] = [];
    const subscriber = client.duplicate();
    cleanups.push(() => subscriber.disconnect());
    subscriber.on('message', (channel, message) => messages.push({ channel, message }));
    await subscriber.subscribe(...channels);
    return messages;
  };
  const stateOf = (id: string, revision: number) => {
    const inForce = { ...log.currentHead(), revision };
    return JSON.stringify({ id, kind: 'resolver', name: null, inForce, feedVersion: 1 });
  };

  beforeEach(async () => {
    redis = await startPrivateRedis();
    client = new Redis(redis.url);
    log = new MemoryLog();
    const isAuthorised = accepts(OLD, NEW);
    server = createFeedServer({ source: log, isAuthorised, log: quiet, isOutage: () => false });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    client.disconnect();
    server.closeAllConnections();
    server.close();
    await redis.stop();
  });

  it('of 200 forged followers delay no write, and are counted', async () => {
    const shared = deployment();
    const names = redisNames(shared.id);
    const publisher = await publish(shared);
    await follow(shared);
    const forger = new DeploymentMessages(deployment({ list: ['a-token-that-nobody-has'] }), quiet);
    const announce = async () => {
      for (let n = 0; n < 200; n++) {
        const state = stateOf(`forged-${n}`, 0);
        for (const message of [state, forger.sign(names.follower, state)]) {
          await client.set(names.lease(`forged-${n}`), message, 'PX', 3_000);
          await client.publish(names.follower, message);
        }
      }
    };
    await announce();
    await expect.poll(() => publisher.refusedMessages.forged).toBe(400);
    expect(await write(publisher, 1)).toEqual(EVERYWHERE);
    // A replica that starts reads the leases.
    const replica = await publish(shared);
    await expect.poll(() => replica.followers().length).toBe(1);
    expect(await write(replica, 2)).toEqual(EVERYWHERE);
    expect(publisher.followers()).toHaveLength(1);
    expect(publisher.missingResolvers).toBe(0);
  });

  it('of a forged probe end no lease', async () => {
    const shared = deployment();
    const publisher = await publish(shared);
    await follow(shared);
    await expect.poll(() => publisher.followers().length).toBe(1);
    const own = `${redisNames(shared.id).follower}:*`;
    const [probes] = (await client.pubsub('CHANNELS', own)) as string[];
    for (const text of ['1e15', 'x', '-1']) await client.publish(probes, text);
    await expect.poll(() => publisher.refusedMessages.forged).toBe(3);
    expect(publisher.followers()).toHaveLength(1);
    expect(await write(publisher, 1)).toEqual(EVERYWHERE);
  });

  it('that are forged put nothing in force', async () => {
    const shared = deployment();
    const names = redisNames(shared.id);
    const publisher = await publish(shared);
    const { follower, target } = await follow(shared);
    await write(publisher, 1);
    const forged = new MemoryLog();
    for (let id = 0; id < 5; id++) forged.commit(id, 2);
    await client.publish(names.change, JSON.stringify(forged.commit(9, 2)));
    await client.publish(names.head, JSON.stringify(forged.currentHead()));
    await expect.poll(() => follower.report.refusedMessages.forged).toBe(2);
    expect(await write(publisher, 2)).toEqual(EVERYWHERE);
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(follower.report.counters).toMatchObject({
      feedFailures: 0,
      loads: { start: 1, digest: 0 },
    });
  });

  it('that are repeated later make nothing false', async () => {
    const shared = deployment();
    const names = redisNames(shared.id);
    const publisher = await publish(shared);
    const said = await record(names.change, names.head, names.follower);
    const one = await follow(shared);
    const two = await follow(shared);
    expect(await write(publisher, 1)).toEqual({ applied: 2, total: 2 });
    await two.stop();
    await expect.poll(() => publisher.followers().length).toBe(1);
    log.setBack(0);
    expect(await write(publisher, 7)).toEqual(EVERYWHERE);
    const { refusedMessages } = publisher;
    const before = one.follower.report.refusedMessages.replayed;
    const all = [...said];
    for (const { channel, message } of all) await client.publish(channel, message);
    const states = all.filter(({ channel }) => channel === names.follower).length;
    await expect.poll(() => refusedMessages.replayed).toBe(states);
    await expect
      .poll(() => one.follower.report.refusedMessages.replayed - before)
      .toBe(all.length - states);
    // The one that stopped is not back, and the change that was lost is not in force.
    expect(publisher.followers()).toHaveLength(1);
    expect(await write(publisher, 8)).toEqual(EVERYWHERE);
    expect(one.target.verdicts()).toEqual(log.verdicts());
    expect(one.target.verdicts()).toEqual({ 7: 1, 8: 1 });
  });

  it('count all resolvers at each step of replacing the token', async () => {
    const lists = { plane: [OLD], follower: [OLD] };
    const publisher = await publish(deployment({ tokens: () => lists.plane }));
    await follow(deployment({ tokens: () => lists.follower }));
    let id = 0;
    for (const [one, list] of [
      ['plane', [OLD, NEW]],
      ['follower', [OLD, NEW]],
      ['follower', [NEW, OLD]],
      ['plane', [NEW, OLD]],
      ['plane', [NEW]],
      ['follower', [NEW]],
    ] as const) {
      lists[one] = [...list];
      expect([one, list, await write(publisher, ++id)]).toEqual([one, list, EVERYWHERE]);
    }
    expect(publisher.refusedMessages).toMatchObject({ forged: 0, stale: 0 });
  });
});
