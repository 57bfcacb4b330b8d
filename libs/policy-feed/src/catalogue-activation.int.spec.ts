import { compileCatalogue, NameList } from '@weir/catalogue';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { createLogger, parseVariables } from '@weir/ops';
import { Decision, Verdict } from '@weir/policy';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FEED_VARIABLES } from './variables.js';
import { type FollowedPolicy, followPolicy } from './follow-policy.js';
import { ControlPlane, FEED_TOKEN } from './testing/control-plane.js';
import { domainRule, HASH_KEY_HEX, loopback, profile, put } from './testing/policies.js';

const WAIT = { timeout: 60_000 };
const key = parseHashKey(HASH_KEY_HEX);
const log = createLogger({ name: 'test', level: 'silent' });
const ALL = { applied: 1, total: 1 };

/** A catalogue whose category 12 lists this name. */
const catalogueOf = (name: string, version: number) => {
  const lists = [NameList.of([name], key)];
  const categories = [{ id: 12, name: 'Gambling', lists }];
  const { image, sha256 } = compileCatalogue({ categories, applications: [] }, key);
  return {
    image,
    sha256,
    activation: put('catalogue', { version, sha256, sizeBytes: image.length }),
  };
};

describe('the image of a catalogue that is activated', () => {
  const cleanups: (() => unknown)[] = [];
  let redis: PrivateRedis;
  let plane: ControlPlane;
  const first = catalogueOf('bet.example', 1);
  const second = catalogueOf('poker.example', 2);
  const third = catalogueOf('dice.example', 3);

  beforeEach(async () => {
    redis = await startPrivateRedis();
    plane = await ControlPlane.start(redis.url);
    plane.images.set(first.sha256, first.image);
    await plane.commit(profile(1, { categoryIds: [12] }), loopback(1), first.activation);
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    await plane.stop();
    await redis.stop();
  });

  const follow = (variables: Record<string, string> = {}): FollowedPolicy => {
    const configuration = parseVariables(FEED_VARIABLES, {
      DOMAIN_HASH_KEY: HASH_KEY_HEX,
      REDIS_URL: redis.url,
      FEED_URL: plane.feedUrl,
      FEED_TOKENS: FEED_TOKEN,
      ...variables,
    });
    const followed = followPolicy({ kind: 'resolver', configuration, log });
    cleanups.push(() => followed.follower.stop());
    return followed;
  };
  const names = new SuffixHashes(key);
  const isBlocked = ({ target }: FollowedPolicy, name: string) => {
    names.compute(toWireName(name), 0);
    const client = { family: 4 as const, words: Uint32Array.of(0x7f00_0001, 0, 0, 0), port: 0 };
    return target.policy!.decide(client, names, 0, new Decision()) === Verdict.block;
  };
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'weir-activation-'));
    cleanups.push(() => rmSync(path, { recursive: true }));
    return path;
  };

  it('does not delay later changes while it is missing; the image before it stays in use', async () => {
    const followed = follow();
    await followed.follower.start();
    expect(isBlocked(followed, 'bet.example')).toBe(true);
    expect(await plane.commit(second.activation)).toEqual(ALL);
    for (const name of ['one.example', 'two.example']) {
      expect(await plane.commit(domainRule(1, 'deny', name))).toEqual(ALL);
      expect(isBlocked(followed, name)).toBe(true);
    }
    await expect.poll(() => followed.target.catalogues.failures, WAIT).toBeGreaterThan(1);
    expect(isBlocked(followed, 'bet.example')).toBe(true);
    expect(followed.target.catalogues.missing).toMatchObject({ sha256: second.sha256 });
    expect(followed.follower.report.counters).toMatchObject({
      feedFailures: 0,
      loads: { failed: 0 },
    });
    expect(followed.notReady()).toBeNull();

    plane.images.set(second.sha256, second.image);
    await expect.poll(() => isBlocked(followed, 'poker.example'), WAIT).toBe(true);
    expect(isBlocked(followed, 'bet.example')).toBe(false);
    expect(followed.target.catalogues.missing).toBeNull();
  });

  it('does not delay later changes while a wrong image is served in its place', async () => {
    const followed = follow();
    await followed.follower.start();
    plane.images.set(second.sha256, third.image);
    await plane.commit(second.activation);
    expect(await plane.commit(domainRule(1, 'deny', 'one.example'))).toEqual(ALL);
    await expect.poll(() => followed.target.catalogues.failures, WAIT).toBeGreaterThan(1);
    expect(isBlocked(followed, 'one.example')).toBe(true);
    expect(isBlocked(followed, 'bet.example')).toBe(true);
    expect(followed.follower.report.counters.loads).toMatchObject({
      start: 1,
      failed: 0,
      digest: 0,
    });
    plane.images.set(second.sha256, second.image);
    await expect.poll(() => isBlocked(followed, 'poker.example'), WAIT).toBe(true);
  });

  it('does not delay later changes while it is slow, and is given up for a newer image', async () => {
    const followed = follow();
    await followed.follower.start();
    const gate = Promise.withResolvers<undefined>();
    plane.images.set(second.sha256, second.image);
    plane.slowImages.set(second.sha256, gate.promise);
    await plane.commit(second.activation);
    expect(await plane.commit(domainRule(1, 'deny', 'one.example'))).toEqual(ALL);
    plane.images.set(third.sha256, third.image);
    expect(await plane.commit(third.activation)).toEqual(ALL);
    await expect.poll(() => isBlocked(followed, 'dice.example'), WAIT).toBe(true);
    expect(isBlocked(followed, 'poker.example')).toBe(false);
    gate.resolve(undefined);
  });

  it('is in use with the configuration, and not after it, at a start', async () => {
    plane.images.delete(first.sha256);
    const followed = follow();
    await followed.follower.start();
    expect(await plane.commit(domainRule(1, 'deny', 'one.example'))).toEqual(ALL);
    // It would let blocked categories through.
    expect(followed.target.policy).toBeNull();
    expect(followed.notReady()).toBe('no catalogue yet');
    plane.images.set(first.sha256, first.image);
    await expect.poll(() => followed.notReady(), WAIT).toBeNull();
    expect([isBlocked(followed, 'bet.example'), isBlocked(followed, 'one.example')]).toEqual([
      true,
      true,
    ]);
  });

  it('is replaced by the newest on disk at a start', async () => {
    const DATA_DIR = folder();
    const before = follow({ DATA_DIR });
    await before.follower.start();
    await plane.commit(second.activation, domainRule(1, 'deny', 'one.example'));
    await before.follower.stop();
    const after = follow({ DATA_DIR });
    await after.follower.start();
    expect([isBlocked(after, 'bet.example'), isBlocked(after, 'one.example')]).toEqual([
      true,
      true,
    ]);
    expect(after.target.catalogues.missing).toMatchObject({ sha256: second.sha256 });
    plane.images.set(second.sha256, second.image);
    await expect.poll(() => isBlocked(after, 'poker.example'), WAIT).toBe(true);
  });

  it('is in force no longer when the catalogue is taken away while it is missing', async () => {
    const followed = follow();
    await followed.follower.start();
    await plane.commit(second.activation);
    await plane.commit({ type: 'delete', kind: 'catalogue', key: {} });
    await expect.poll(() => isBlocked(followed, 'bet.example'), WAIT).toBe(false);
    expect(followed.target.catalogues.missing).toBeNull();
    await plane.commit(first.activation);
    await expect.poll(() => isBlocked(followed, 'bet.example'), WAIT).toBe(true);
  });

  it('stays in use when the whole configuration is replaced and the new image is missing', async () => {
    const followed = follow();
    await followed.follower.start();
    await plane.replace(
      profile(1, { categoryIds: [12] }),
      loopback(1),
      domainRule(1, 'deny', 'one.example'),
      second.activation,
    );
    expect([isBlocked(followed, 'bet.example'), isBlocked(followed, 'one.example')]).toEqual([
      true,
      true,
    ]);
    plane.images.set(second.sha256, second.image);
    await expect.poll(() => isBlocked(followed, 'poker.example'), WAIT).toBe(true);
    expect(isBlocked(followed, 'bet.example')).toBe(false);
  });
});
