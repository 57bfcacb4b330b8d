import { redisNames } from '@weir/change-feed';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';

const FOLLOWERS = 200;
const HEARTBEAT_MS = 500;
const LEASE_MS = 3_000;
const inForce = { lineage: randomUUID(), revision: 0, digest: '0'.repeat(16) };

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
        const state = JSON.stringify({ id, kind: 'resolver', name: null, inForce, feedVersion: 1 });
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
