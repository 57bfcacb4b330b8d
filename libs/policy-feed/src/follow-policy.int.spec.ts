import { compileCatalogue, NameList } from '@weir/catalogue';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import { parseHashKey } from '@weir/dns-name';
import { createLogger, parseVariables } from '@weir/ops';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FEED_VARIABLES } from './feed-variables.js';
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

it('says what is missing until it is ready, and then has each change when its commit returns', async () => {
  const configuration = parseVariables(FEED_VARIABLES, {
    DOMAIN_HASH_KEY: HASH_KEY_HEX,
    REDIS_URL: redis.url,
    FEED_URL: plane.feedUrl,
    FEED_TOKEN,
  });
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
  expect(notReady()).toBeNull();
  await plane.commit(domainRule(1, 'deny', 'late.example'));
  expect(target.policy!.counts()).toMatchObject({ profile: 1, domainRule: 1, catalogue: 1 });
  await follower.stop();
});
