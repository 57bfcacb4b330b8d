import { Redis } from 'ioredis';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FeedClient } from './client/feed-client.js';
import { Follower } from './follower/follower.js';
import { ChangePublisher } from './publisher/change-publisher.js';
import { createFeedServer } from './server/feed-server.js';
import { accepts, deploymentOf } from './testing/deployment.js';
import { MemoryLog, MemoryTarget } from './testing/memory-log.js';
import { startPrivateRedis } from './testing/private-redis.js';

const TOKEN = 'feed-token-of-redis-refusals';
const WAIT = { timeout: 60_000, interval: 50 };
/** Several heartbeats, and several attempts to subscribe. */
const WHILE_MS = 3_500;

/** What a process warns of. */
function recorded() {
  const warnings: string[] = [];
  const ignore = () => undefined;
  const log = {
    info: ignore,
    warn: (_: object, text: string) => warnings.push(text),
    error: ignore,
  };
  return { warnings, log };
}

/** A publisher and a follower that is at the head, and somebody who changes what Redis lets them do. */
async function deploy() {
  const redis = await startPrivateRedis();
  const history = new MemoryLog();
  const database = { isAway: false };
  const server = createFeedServer({
    ...{ source: history, isAuthorised: accepts(TOKEN), isOutage: () => false },
    log: recorded().log,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const common = { redisUrl: redis.url, deployment: deploymentOf(TOKEN) };
  const [ofPublisher, ofFollower] = [recorded(), recorded()];
  const publisher = new ChangePublisher({
    ...{ ...common, log: ofPublisher.log },
    readHead: () => (database.isAway ? Promise.reject(new Error('away')) : history.head()),
  });
  await publisher.start();
  const { port } = server.address() as AddressInfo;
  const follower = new Follower({
    ...{ ...common, log: ofFollower.log, id: 'one', kind: 'resolver' },
    feed: new FeedClient(`http://127.0.0.1:${port}`, () => TOKEN),
    target: new MemoryTarget(),
  });
  await follower.start();
  const admin = new Redis(redis.url);
  onTestFinished(async () => {
    await follower.stop();
    await publisher.stop();
    admin.disconnect();
    server.closeAllConnections();
    server.close();
    await redis.stop();
  });
  await vi.waitFor(() => expect(publisher.followers()).toHaveLength(1), WAIT);
  const areConnected = () => [publisher.connected, follower.report.isRedisConnected];
  expect(areConnected()).toEqual([true, true]);
  const allow = (...rules: string[]) => admin.acl('SETUSER', 'default', ...rules);
  const warnings = [ofPublisher.warnings, ofFollower.warnings] as const;
  return { allow, areConnected, database, warnings };
}

it('counts Redis as out of reach while it refuses the channels, and says why once', async () => {
  const { allow, areConnected, warnings } = await deploy();
  await allow('resetchannels');
  await vi.waitFor(() => expect(areConnected()).toEqual([false, false]), WAIT);
  await sleep(WHILE_MS);
  expect(areConnected()).toEqual([false, false]);
  const [ofPublisher, ofFollower] = warnings.map((all) =>
    all.filter((text) => /^cannot/.test(text)),
  );
  expect(ofPublisher.sort()).toEqual(['cannot publish', 'cannot subscribe; trying again']);
  expect(ofFollower.sort()).toEqual([
    'cannot publish the revision in force',
    'cannot subscribe; trying again',
  ]);
  await allow('allchannels');
  await vi.waitFor(() => expect(areConnected()).toEqual([true, true]), WAIT);
});

it('counts Redis as in reach after that also while the head cannot be read, and nothing is published', async () => {
  const { allow, areConnected, database, warnings } = await deploy();
  await allow('resetchannels');
  await vi.waitFor(() => expect(warnings[0]).toContain('cannot publish'), WAIT);
  database.isAway = true;
  await allow('allchannels');
  await vi.waitFor(() => expect(areConnected()).toEqual([true, true]), { timeout: 10_000 });
});

it('says once that Redis does not take the lease of a follower', async () => {
  const { allow, warnings } = await deploy();
  await allow('-set');
  await sleep(WHILE_MS);
  expect(warnings[1]).toEqual(['cannot publish the revision in force']);
  await allow('+set');
});
