import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedLogger } from '../runtime/feed-logger.js';

const FIRST_ATTEMPT_MS = 2_000;
const RESUBSCRIBE_MS = 1_000;
/** How often Redis is asked whether it is there. */
const ROLE_CHECK_MS = 1_000;
/** A connection that owes an answer and has been silent for this long is given up: sooner than a lease runs out. */
const SOCKET_TIMEOUT_MS = 2_000;

/**
 * A connection that comes back by itself for ever. Commands fail at once while it is down, and after a second when it
 * does not answer (nothing queues: a late publish helps nobody). One on which nothing comes any more, or that leads to a Redis that
 * is no primary any more, is replaced by a new one. It must be subscribed anew at each 'ready'.
 */
export function connectRedis(url: string, role: string, log: FeedLogger): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    // ioredis does not hear of it when a subscription that it renews fails: that would end the process.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 1_000,
    socketTimeout: SOCKET_TIMEOUT_MS,
    keepAlive: 5_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000),
    connectionName: `weir-${role}`,
  });
  logOutages(redis, role, log);
  checkRoleWhileReady(redis, role, log);
  return redis;
}

/**
 * Asks each second which part this Redis plays. Without a question a connection that a firewall has forgotten shows nothing for many
 * minutes; and what is published on a replica reaches only those who listen there.
 */
function checkRoleWhileReady(redis: Redis, role: string, log: FeedLogger): void {
  let timer: NodeJS.Timeout | undefined;
  const check = async (): Promise<void> => {
    // A question that is not answered breaks the connection, and one that is not permitted was answered.
    const [redisRole] = await redis.role().catch(() => []);
    if (redisRole !== 'slave' || redis.status !== 'ready') return;
    log.warn({ role }, 'this Redis has become a replica; connecting anew');
    redis.disconnect(true);
  };
  redis.on('ready', () => {
    clearInterval(timer);
    timer = setInterval(() => void check(), ROLE_CHECK_MS);
  });
  redis.on('close', () => {
    clearInterval(timer);
  });
}

/** Says once that a connection went down and once that it is back, and hears its errors, which would end the process otherwise. */
export function logOutages(redis: Redis, role: string, log: FeedLogger): void {
  let isDown = false;
  redis.on('error', (error: Error) => {
    if (!isDown) log.warn({ role, reason: error.message }, 'Redis is out of reach');
    isDown = true;
  });
  // Not at 'close', which comes at our own goodbye too.
  redis.on('reconnecting', () => {
    if (!isDown) log.warn({ role }, 'Redis closed the connection');
    isDown = true;
  });
  redis.on('ready', () => {
    if (isDown) log.info({ role }, 'Redis is back');
    isDown = false;
  });
}

/**
 * Starts connecting. Resolves when the first attempt has succeeded or failed, or after two seconds: a Redis that accepts and then says
 * nothing must not hold up a start. The connection goes on trying for ever.
 */
export async function startConnecting(
  redis: Redis,
  ...afterwards: Promise<unknown>[]
): Promise<void> {
  // The 'error' listener has said why.
  const attempt = redis.connect().catch(() => undefined);
  await Promise.race([
    Promise.all([attempt, ...afterwards]),
    sleep(FIRST_ATTEMPT_MS, undefined, { ref: false }),
  ]);
}

/** Subscribes a connection that is ready. @returns whether it was done before the connection went down: then its next 'ready' is another chance. */
export async function subscribe(
  redis: Redis,
  channels: readonly string[],
  log: FeedLogger,
): Promise<boolean> {
  while (redis.status === 'ready') {
    try {
      await redis.subscribe(...channels);
      return true;
    } catch (error) {
      log.warn({ reason: String(error) }, 'cannot subscribe; trying again');
      await sleep(RESUBSCRIBE_MS, undefined, { ref: false });
    }
  }
  return false;
}
