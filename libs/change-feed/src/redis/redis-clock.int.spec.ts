import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PrivateRedis, startPrivateRedis } from '../testing/private-redis.js';
import { RedisClock } from './redis.js';

const HOUR_MS = 3_600_000;

describe('RedisClock', () => {
  let server: PrivateRedis;
  beforeAll(async () => {
    server = await startPrivateRedis();
  });
  afterAll(() => server.stop());

  it('tells the time of Redis, whatever the clock of this machine says', async () => {
    const redis = new Redis(server.url, { lazyConnect: true });
    const clock = new RedisClock(redis, () => Date.now() + HOUR_MS);
    expect(clock.nowMs()).toBeGreaterThan(Date.now() + HOUR_MS - 60_000);
    await redis.connect();
    await clock.asked;
    const [seconds] = await redis.time();
    expect(Math.abs(clock.nowMs() - seconds * 1_000)).toBeLessThan(60_000);
    redis.disconnect();
  });

  it('tells the time of this machine when Redis refuses to tell its own', async () => {
    const admin = new Redis(server.url);
    await admin.acl('SETUSER', 'default', '-time');
    const redis = new Redis(server.url, { lazyConnect: true });
    const clock = new RedisClock(redis, () => 5_000);
    await redis.connect();
    await clock.asked;
    expect(clock.nowMs()).toBe(5_000);
    await admin.acl('SETUSER', 'default', '+time');
    redis.disconnect();
    admin.disconnect();
  });
});
