import {
  ChangePublisher,
  createFeedServer,
  type FeedSource,
  type SnapshotPart,
} from '@weir/change-feed';
import { type PrivateRedis, startPrivateRedis, unsignedNames } from '@weir/change-feed/testing';
import type { Head } from '@weir/config-model';
import { createLogger, parseVariables } from '@weir/ops';
import { Redis } from 'ioredis';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FEED_VARIABLES } from './feed-variables.js';
import { type FollowedPolicy, followPolicy } from './follow-policy.js';
import { RecordedFeed, replay } from './testing/recorded-feed.js';

const log = createLogger({ name: 'test', level: 'silent' });
const HOUR_MS = 3_600_000;
const NOWHERE = '127.0.0.1:2';
const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';

/** Recorded from the version before feeds had version numbers. */
const recorded = new RecordedFeed('feed-89a4cd8');
const names = unsignedNames(recorded.feedToken);
const [first] = recorded.partsOf(recorded.snapshot) as [SnapshotPart & Head];
const last = recorded.page.head;
const [replaced] = recorded.partsOf(recorded.replacedSnapshot) as [SnapshotPart & Head];

const cleanups: (() => unknown)[] = [];
let redis: PrivateRedis;
let client: Redis;
beforeAll(async () => {
  redis = await startPrivateRedis();
  client = new Redis(redis.url);
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const follow = (variables: Record<string, string>): FollowedPolicy => {
  const configuration = parseVariables(FEED_VARIABLES, {
    DOMAIN_HASH_KEY: recorded.hashKey,
    FEED_TOKEN: recorded.feedToken,
    REDIS_UNSIGNED_UNTIL: new Date(Date.now() + HOUR_MS).toISOString(),
    REDIS_URL: redis.url,
    ...variables,
  });
  const followed = followPolicy({ kind: 'resolver', configuration, log });
  cleanups.push(() => followed.follower.stop());
  return followed;
};
const standOf = ({ follower, target }: FollowedPolicy) => [
  follower.revision,
  target.policy?.digest(),
];
const pageAt = ({ revision, digest }: Head) =>
  JSON.stringify({ head: { revision, digest }, changes: [] });

describe('a follower on the feed of an older version', () => {
  it('loads its snapshot and applies the changes of its messages', async () => {
    const bodies = new Map([
      ['/snapshot', recorded.snapshot],
      [`/changes?after=${first.revision}`, pageAt(first)],
    ]);
    const feed = await replay(recorded, bodies);
    cleanups.push(feed.stop);
    const followed = follow({ FEED_URL: feed.url });
    await followed.follower.start();
    expect(standOf(followed)).toEqual([first.revision, first.digest]);

    bodies.set('/snapshot', recorded.replacedSnapshot);
    for (const { channel, text } of recorded.messages) {
      if (channel === 'change') await client.publish(names.change, text);
      if (channel === 'head') await client.publish(names.head, text);
    }
    await expect.poll(() => standOf(followed)).toEqual([replaced.revision, replaced.digest]);
    expect(followed.notReady()).toBeNull();
    expect(followed.follower.counters).toMatchObject({
      changesApplied: last.revision - first.revision,
      feedFailures: 0,
      digestMismatches: 0,
      loads: { start: 1, replaced: 1, failed: 0, digest: 0 },
    });
  });

  it('applies the changes of its log', async () => {
    const bodies = new Map([
      ['/snapshot', recorded.snapshot],
      [`/changes?after=${first.revision}`, recorded.changes],
      [`/changes?after=${last.revision}`, pageAt(last)],
    ]);
    const feed = await replay(recorded, bodies);
    cleanups.push(feed.stop);
    const followed = follow({ FEED_URL: feed.url });
    await followed.follower.start();
    expect(standOf(followed)).toEqual([last.revision, last.digest]);
    expect(followed.follower.counters).toMatchObject({ feedFailures: 0, digestMismatches: 0 });
  });

  it('starts from the files that the older version has written to disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-recorded-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    cpSync(join(recorded.folder, 'disk'), folder, { recursive: true });
    const followed = follow({
      DATA_DIR: folder,
      REDIS_URL: `redis://${NOWHERE}`,
      FEED_URL: `http://${NOWHERE}`,
    });
    void followed.follower.start();
    await expect.poll(() => standOf(followed)).toEqual([last.revision, last.digest]);
    expect(followed.target.policy!.counts()).toMatchObject({ profile: 3, catalogue: 1 });
  });
});

describe('followers of an older version', () => {
  it('get the same responses from the feed API, with additions only in fields that they ignore', async () => {
    const parts = recorded.partsOf(recorded.snapshot);
    const source: FeedSource = {
      // eslint-disable-next-line @typescript-eslint/require-await -- as the database gives it
      async *snapshot() {
        for (const part of parts) yield part.type === 'head' ? { ...part, lineage: LINEAGE } : part;
      },
      changesAfter: () =>
        Promise.resolve({
          head: { ...last, lineage: LINEAGE },
          changes: recorded.page.changes.map((change) => ({
            ...change,
            operations: JSON.stringify(change.operations),
          })),
        }),
      catalogueImage: () => Promise.resolve(null),
    };
    const token = recorded.feedToken;
    const server = createFeedServer({ source, tokens: () => [token], log, isOutage: () => false });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => server.close());
    const get = async (path: string) => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
      const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      return [response.status, (await response.text()).replaceAll(`,"lineage":"${LINEAGE}"`, '')];
    };
    expect(await get('/snapshot')).toEqual([200, recorded.snapshot]);
    expect(await get(`/changes?after=${first.revision}`)).toEqual([200, recorded.changes]);
  });

  it('receive the same changes and heads, with additions only in fields that they ignore', async () => {
    const publisher = await startPublisher();
    const received: string[] = [];
    const subscriber = client.duplicate();
    cleanups.push(() => subscriber.disconnect());
    subscriber.on('message', (channel, text) => {
      if (channel === names.change) received.push(text);
    });
    await subscriber.subscribe(names.change);
    for (const change of recorded.page.changes)
      await publisher.publish([{ lineage: LINEAGE, ...change }]);
    await expect.poll(() => received.length).toBe(recorded.page.changes.length);
    const expected = recorded.textsOf('change').slice(0, received.length);
    expect(received.map(withoutNews)).toEqual(expected);
    // Too large for a message, so only its head is published.
    const operations = Array.from({ length: 20_000 }, () => recorded.page.changes[0].operations[0]);
    await publisher.publish([{ ...last, lineage: LINEAGE, operations }]);
    await expect.poll(() => received.length).toBe(expected.length + 1);
    expect(withoutNews(received.at(-1)!)).toBe(JSON.stringify(last));
  });

  it('are waited for until they stop', async () => {
    const publisher = await startPublisher();
    const states = recorded.textsOf('follower');
    const lastState = states.at(-1)!;
    await client.publish(names.follower, states[0]);
    await expect.poll(() => publisher.followers()).toHaveLength(1);
    const position = { ...last, lineage: LINEAGE };
    expect(await publisher.waitApplied(position, 100)).toEqual({ applied: 0, total: 1 });
    const waiting = publisher.waitApplied(position, 20_000);
    for (const text of states.slice(0, -1)) await client.publish(names.follower, text);
    expect(await waiting).toEqual({ applied: 1, total: 1 });
    await client.publish(names.follower, lastState);
    await expect.poll(() => publisher.followers()).toEqual([]);
  });
});

async function startPublisher(): Promise<ChangePublisher> {
  const { feedToken } = recorded;
  const readHead = () => Promise.resolve(last);
  const unsignedUntilMs = Date.now() + HOUR_MS;
  const deployment = { id: 'deployment', tokens: () => [feedToken], unsignedUntilMs };
  const publisher = new ChangePublisher({ redisUrl: redis.url, deployment, readHead, log });
  cleanups.push(() => publisher.stop());
  await publisher.start();
  return publisher;
}

function withoutNews(text: string): string {
  const { feedVersion, lineage, ...message } = JSON.parse(text) as Record<string, unknown>;
  expect([feedVersion, lineage]).toEqual([1, LINEAGE]);
  return JSON.stringify(message);
}

it('the recording is complete', () => {
  expect(last.revision).toBeGreaterThan(first.revision);
  expect(recorded.textsOf('head').length).toBeGreaterThan(0);
  expect(readFileSync(join(recorded.folder, 'disk/snapshot'), 'utf8')).toContain('"version":1');
});
