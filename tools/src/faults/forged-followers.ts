import { redisNames } from '@weir/change-feed';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';

const FOLLOWERS = 200;
const HEARTBEAT_MS = 500;
const LEASE_MS = 3_000;

/** Somebody who can write to Redis and has no token announces resolvers that never apply anything. */
export async function forgeFollowers(deployment: Deployment, durationMs: number): Promise<void> {
  const names = redisNames(deployment.deploymentId);
  const redis = new Redis(deployment.redisUrl, { retryStrategy: () => 100 });
  redis.on('error', () => undefined);
  const endMs = performance.now() + durationMs;
  // Also ends a pipeline on a connection that was blackholed meanwhile.
  const ending = setTimeout(() => {
    redis.disconnect();
  }, durationMs);
  try {
    while (performance.now() < endMs) {
      const pipeline = redis.pipeline();
      for (let i = 0; i < FOLLOWERS; i++) {
        const id = `forged-${i}`;
        const state = JSON.stringify({ id, kind: 'resolver', lineage: null, revision: 0 });
        pipeline.set(names.lease(id), state, 'PX', LEASE_MS).publish(names.follower, state);
      }
      // Redis may be away at the moment.
      await pipeline.exec().catch(() => undefined);
      await sleep(HEARTBEAT_MS);
    }
  } finally {
    clearTimeout(ending);
    redis.disconnect();
  }
}
