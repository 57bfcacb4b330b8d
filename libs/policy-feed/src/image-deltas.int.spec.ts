import { compileCatalogue, NameList } from '@weir/catalogue';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { createLogger, parseVariables } from '@weir/ops';
import { Decision, Verdict } from '@weir/policy';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FEED_VARIABLES } from './variables.js';
import { type FollowedPolicy, followPolicy } from './follow-policy.js';
import { ControlPlane, FEED_TOKEN } from './testing/control-plane.js';
import { HASH_KEY_HEX, loopback, profile, put } from './testing/policies.js';

const WAIT = { timeout: 60_000 };
const NAMES = Array.from({ length: 20_000 }, (_, i) => `n${i}.example`);
const key = parseHashKey(HASH_KEY_HEX);
const log = createLogger({ name: 'test', level: 'silent' });

/** A catalogue whose category 12 lists these names. */
const catalogueOf = (version: number, names: readonly string[]) => {
  const categories = [{ id: 12, name: 'Gambling', lists: [NameList.of(names, key)] }];
  const { image, sha256 } = compileCatalogue({ categories, applications: [] }, key);
  const activation = put('catalogue', { version, sha256, sizeBytes: image.length });
  return { image, sha256, activation };
};

describe('a catalogue that differs little from the one before', () => {
  const first = catalogueOf(1, NAMES);
  const second = catalogueOf(2, [...NAMES, 'second.example']);
  const third = catalogueOf(3, [...NAMES.slice(10), 'third.example']);
  const another = catalogueOf(4, NAMES.map((name) => `other-${name}`).concat('fourth.example'));
  const cleanups: (() => unknown)[] = [];
  let redis: PrivateRedis;
  let plane: ControlPlane;

  beforeEach(async () => {
    redis = await startPrivateRedis();
    plane = await ControlPlane.start(redis.url);
    for (const { sha256, image } of [first, second, third, another]) {
      plane.images.set(sha256, image);
    }
    await plane.commit(profile(1, { categoryIds: [12] }), loopback(1), first.activation);
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    await plane.stop();
    await redis.stop();
  });

  const start = async (variables: Record<string, string> = {}): Promise<FollowedPolicy> => {
    const configuration = parseVariables(FEED_VARIABLES, {
      DOMAIN_HASH_KEY: HASH_KEY_HEX,
      REDIS_URL: redis.url,
      FEED_URL: plane.feedUrl,
      FEED_TOKENS: FEED_TOKEN,
      ...variables,
    });
    const followed = followPolicy({ kind: 'resolver', configuration, log });
    cleanups.push(() => followed.follower.stop());
    await followed.follower.start();
    return followed;
  };
  const names = new SuffixHashes(key);
  const isBlocked = ({ target }: FollowedPolicy, name: string) => {
    names.compute(toWireName(name), 0);
    const client = { family: 4 as const, words: Uint32Array.of(0x7f00_0001, 0, 0, 0), port: 0 };
    return target.policy!.decide(client, names, 0, new Decision()) === Verdict.block;
  };
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'weir-image-deltas-'));
    cleanups.push(() => rmSync(path, { recursive: true }));
    return path;
  };
  const sent = () => {
    const { image, delta } = plane.downloads.sent;
    return { whole: image.downloads, deltas: delta.downloads };
  };

  it('comes as a delta of a few bytes, made once for all, and is on the disk as a whole', async () => {
    const DATA_DIR = folder();
    const followers = [await start({ DATA_DIR }), await start(), await start()];
    expect(sent()).toEqual({ whole: 3, deltas: 0 });
    await plane.commit(second.activation);
    for (const one of followers) {
      await expect.poll(() => isBlocked(one, 'second.example'), WAIT).toBe(true);
      expect(isBlocked(one, 'n19999.example')).toBe(true);
      expect(isBlocked(one, 'third.example')).toBe(false);
      expect(one.target.catalogues.counters).toEqual({ whole: 1, built: 1, deltaFaults: 0 });
    }
    expect(sent()).toEqual({ whole: 3, deltas: 3 });
    expect(plane.downloads.sent.delta.bytes).toBeLessThan(3 * 1_000);
    expect(plane.deltas.counts).toEqual({ made: 1, too_large: 0, failed: 0 });
    const file = `catalogue-${second.sha256}`;
    await expect.poll(() => readdirSync(DATA_DIR), WAIT).toContain(file);
    expect(Buffer.compare(readFileSync(join(DATA_DIR, file)), second.image)).toBe(0);
  });

  it('comes as a delta after a restart, of an image that is two behind', async () => {
    const DATA_DIR = folder();
    const before = await start({ DATA_DIR });
    const file = `catalogue-${first.sha256}`;
    await expect.poll(() => readdirSync(DATA_DIR), WAIT).toContain(file);
    await before.follower.stop();
    await plane.commit(second.activation);
    await plane.commit(third.activation);
    const after = await start({ DATA_DIR });
    await expect.poll(() => isBlocked(after, 'third.example'), WAIT).toBe(true);
    expect(isBlocked(after, 'n9.example')).toBe(false);
    expect(after.target.catalogues.counters).toEqual({ whole: 0, built: 1, deltaFaults: 0 });
  });

  it('comes whole to a follower whose image the control plane does not have any longer', async () => {
    const followed = await start();
    plane.images.delete(first.sha256);
    await plane.commit(second.activation);
    await expect.poll(() => isBlocked(followed, 'second.example'), WAIT).toBe(true);
    expect(followed.target.catalogues.counters).toEqual({ whole: 2, built: 0, deltaFaults: 0 });
    await plane.commit(third.activation);
    await expect.poll(() => isBlocked(followed, 'third.example'), WAIT).toBe(true);
    expect(followed.target.catalogues.counters).toEqual({ whole: 2, built: 1, deltaFaults: 0 });
  });

  it('comes whole when the delta makes another image, and when it is none', async () => {
    const followed = await start();
    const rows = Buffer.concat(
      await Array.fromAsync((await plane.imageDelta(first.sha256, second.sha256))!.bytes),
    );
    rows[rows.length - 5] ^= 1;
    plane.wrongDelta = rows;
    await plane.commit(second.activation);
    await expect.poll(() => isBlocked(followed, 'second.example'), WAIT).toBe(true);
    plane.wrongDelta = Buffer.from('this is no delta');
    await plane.commit(third.activation);
    await expect.poll(() => isBlocked(followed, 'third.example'), WAIT).toBe(true);
    expect(followed.target.catalogues.counters).toEqual({ whole: 3, built: 0, deltaFaults: 2 });
    expect(followed.target.catalogues.failures).toBe(0);
  });

  it('comes whole when it differs too much after all', async () => {
    const followed = await start();
    await plane.commit(another.activation);
    await expect.poll(() => isBlocked(followed, 'fourth.example'), WAIT).toBe(true);
    expect(isBlocked(followed, 'n5.example')).toBe(false);
    expect(plane.deltas.counts).toEqual({ made: 0, too_large: 1, failed: 0 });
    expect(followed.target.catalogues.counters).toEqual({ whole: 2, built: 0, deltaFaults: 0 });
  });
});
