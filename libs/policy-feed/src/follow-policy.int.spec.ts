import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { createLogger, parseVariables } from '@weir/ops';
import { Decision, type PolicyMessage, SharedPolicy, Verdict } from '@weir/policy';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FEED_VARIABLES } from './variables.js';
import { followPolicy } from './follow-policy.js';
import { ControlPlane, FEED_TOKEN } from './testing/control-plane.js';
import { domainRule, HASH_KEY_HEX, profile, put } from './testing/policies.js';

let redis: PrivateRedis;
let plane: ControlPlane;
beforeAll(async () => {
  redis = await startPrivateRedis();
  plane = await ControlPlane.start(redis.url);
});
afterAll(async () => {
  await plane.stop();
  await redis.stop();
});

const feedConfiguration = () =>
  parseVariables(FEED_VARIABLES, {
    DOMAIN_HASH_KEY: HASH_KEY_HEX,
    REDIS_URL: redis.url,
    FEED_URL: plane.feedUrl,
    FEED_TOKENS: FEED_TOKEN,
  });

it('says what is missing until it is ready, and then has each change when its commit returns', async () => {
  const configuration = feedConfiguration();
  const log = createLogger({ name: 'test', level: 'silent' });
  const { target, follower, notReady } = followPolicy({ kind: 'resolver', configuration, log });
  expect(notReady()).toBe('no configuration yet');
  await plane.commit(profile(1));
  await follower.start();
  expect(notReady()).toBe('no catalogue yet');

  const key = parseHashKey(HASH_KEY_HEX);
  const gambling = { id: 12, name: 'Gambling', lists: [NameList.of(['bet.example'], key)] };
  const { image, sha256 } = compileCatalogue({ categories: [gambling], applications: [] }, key);
  plane.images.set(sha256, image);
  await plane.commit(put('catalogue', { version: 1, sha256, sizeBytes: image.length }));
  await expect.poll(notReady).toBeNull();
  await plane.commit(domainRule(1, 'deny', 'late.example'));
  expect(target.policy!.counts()).toMatchObject({ profile: 1, domainRule: 1, catalogue: 1 });
  await follower.stop();
});

it('has each change in force for readers in other threads when its commit returns', async () => {
  const configuration = feedConfiguration();
  const log = createLogger({ name: 'test', level: 'silent' });
  const { target, follower } = followPolicy({ kind: 'resolver', configuration, log, readers: 1 });
  const key = parseHashKey(HASH_KEY_HEX);
  // In this thread, but all that it gets is cloned.
  const messages: PolicyMessage[] = [];
  const invitation = target.writer.connect(0, (one) => messages.push(structuredClone(one)));
  const reader = new SharedPolicy(structuredClone(invitation), {
    receive: () => messages.shift(),
    openCatalogue: (image) => CatalogueImage.open(image as Uint8Array, key),
  });
  const names = new SuffixHashes(key);
  const out = new Decision();
  const judge = (name: string): Verdict => {
    names.compute(toWireName(name), 0);
    const client = { family: 4 as const, words: Uint32Array.of(0xc000_0263, 0, 0, 0), port: 0 };
    const verdict = reader.enter()?.decide(client, names, 0, out);
    reader.leave();
    return verdict ?? Verdict.unfiltered;
  };
  await follower.start();
  expect(judge('bet.example')).toBe(Verdict.unfiltered);
  await plane.commit(
    profile(9, { categoryIds: [12] }),
    put('ipv4Network', { address: 0xc000_0263, prefixLength: 32, profileId: 9 }),
  );
  const images = ['bet.example', 'casino.example'].map((name) => {
    const lists = [NameList.of([name], key)];
    return compileCatalogue({ categories: [{ id: 12, name, lists }], applications: [] }, key);
  });
  for (const [version, { image, sha256 }] of images.entries()) {
    plane.images.set(sha256, image);
    await plane.commit(put('catalogue', { version, sha256, sizeBytes: image.length }));
    const names = ['bet.example', 'casino.example'];
    const expected = names.map((_name, at) => (at === version ? Verdict.block : Verdict.permit));
    // The image comes beside the change that activates it.
    await expect.poll(() => names.map(judge)).toEqual(expected);
  }
  expect(target.policy!.catalogue!.shareable).toMatchObject({
    buffer: expect.any(SharedArrayBuffer) as SharedArrayBuffer,
  });

  // While a reader is inside, a change waits for it.
  reader.enter();
  let isCommitted = false;
  const commit = plane.commit(domainRule(9, 'deny', 'late.example')).then(() => {
    isCommitted = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isCommitted).toBe(false);
  reader.leave();
  await commit;
  expect(judge('late.example')).toBe(Verdict.block);
  await follower.stop();
});

it('applies a large change, and those that come meanwhile after it', async () => {
  const configuration = feedConfiguration();
  const log = createLogger({ name: 'test', level: 'silent' });
  const { target, follower } = followPolicy({ kind: 'resolver', configuration, log });
  await follower.start();
  const before = target.policy!.revision;
  const many = Array.from({ length: 20_000 }, (_, i) => domainRule(1, 'deny', `large${i}.example`));
  const revisions: number[] = [];
  let isDone = false;
  const watching = (async () => {
    for (; !isDone; await new Promise(setImmediate)) {
      const { revision } = target.policy!;
      if (revision !== revisions.at(-1)) revisions.push(revision);
    }
  })();
  await Promise.all([
    plane.commit(...many),
    plane.commit(domainRule(1, 'allow', 'large7.example')),
    plane.commit(...many.slice(5000)),
    plane.commit(domainRule(1, 'allow', 'large9.example')),
  ]);
  await expect.poll(() => target.policy!.revision).toBe(before + 4);
  isDone = true;
  await watching;
  expect(target.policy!.digest()).toBe((await plane.head()).digest);
  expect(follower.report.counters).toMatchObject({
    digestMismatches: 0,
    loads: { start: 1, failed: 0 },
  });
  // In order, and the large ones were a step as well.
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  await follower.stop();
});
