import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FeedLogger, LastingFault } from '../runtime/runtime.js';

const FIRST_ATTEMPT_MS = 2_000;
const RESUBSCRIBE_MS = 1_000;
/** How often Redis is asked for its role, and for its time: its clock may be set. */
const ASK_INTERVAL_MS = 1_000;
/** A connection that waits for an answer and receives nothing for this long is closed: sooner than a lease expires. */
const SOCKET_TIMEOUT_MS = 2_000;

/**
 * A connection that reconnects for ever. A command fails at once while it is down, and after a second without an
 * answer. Nothing is queued: a late message is of no use. A half-open connection, or one to a Redis that is no
 * longer the primary, is replaced. The caller must subscribe again at each 'ready'.
 */
export function connectRedis(url: string, role: string, log: FeedLogger): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    // ioredis does not handle the failure of a subscription that it renews: that would end the process.
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
 * Asks Redis for its role each second. Without traffic a half-open connection, such as one that a firewall has
 * dropped, goes unnoticed for many minutes. And a message that is published on a replica reaches only subscribers
 * of that replica.
 */
function checkRoleWhileReady(redis: Redis, role: string, log: FeedLogger): void {
  const check = async (): Promise<void> => {
    // Without an answer the socket timeout closes the connection. A refusal (ACL) is an answer too.
    const [redisRole] = await redis.role().catch(() => []);
    if (redisRole !== 'slave' || redis.status !== 'ready') return;
    log.warn({ role }, 'this Redis has become a replica; reconnecting');
    redis.disconnect(true);
  };
  whileReady(redis, () => void check());
}

function whileReady(redis: Redis, ask: () => void): void {
  let timer: NodeJS.Timeout | undefined;
  redis.on('ready', () => {
    clearInterval(timer);
    timer = setInterval(ask, ASK_INTERVAL_MS);
  });
  redis.on('close', () => {
    clearInterval(timer);
  });
}

/** Logs once that a connection went down and once that it is back. Handles its errors, which would end the process. */
function logOutages(redis: Redis, role: string, log: FeedLogger): void {
  let isDown = false;
  redis.on('error', (error: Error) => {
    if (!isDown) log.warn({ role, reason: error.message }, 'Redis is out of reach');
    isDown = true;
  });
  // Not at 'close', which also comes after our own disconnect().
  redis.on('reconnecting', () => {
    if (!isDown) log.warn({ role }, 'Redis closed the connection');
    isDown = true;
  });
  redis.on('ready', () => {
    if (isDown) log.info({ role }, 'Redis is back');
    isDown = false;
  });
}

/** Resolves when the first attempt has ended, or after two seconds without an answer. Retries go on for ever. */
export async function startConnecting(
  redis: Redis,
  ...afterwards: Promise<unknown>[]
): Promise<void> {
  // The 'error' listener has logged it.
  const attempt = redis.connect().catch(() => undefined);
  await Promise.race([
    Promise.all([attempt, ...afterwards]),
    sleep(FIRST_ATTEMPT_MS, undefined, { ref: false }),
  ]);
}

/** Subscribes a connection that is ready. @returns false: it went down before; try again at its next 'ready'. */
export async function subscribe(
  redis: Redis,
  channels: readonly string[],
  log: FeedLogger,
): Promise<boolean> {
  const fault = new LastingFault(log, 'cannot subscribe; trying again');
  while (redis.status === 'ready') {
    try {
      await redis.subscribe(...channels);
      return true;
    } catch (error) {
      fault.note(error);
      await sleep(RESUBSCRIBE_MS, undefined, { ref: false });
    }
  }
  return false;
}

/**
 * The time of Redis, in milliseconds since 1970. All processes of a deployment agree on it, whatever their own clocks
 * say. Until Redis has answered, it is the time of this machine.
 */
export class RedisClock {
  private readonly answer = Promise.withResolvers<undefined>();
  /** Resolves when Redis was asked for the first time, and has answered or refused. */
  readonly asked: Promise<unknown> = this.answer.promise;
  /** Time of Redis minus `performance.now()`. */
  private offsetMs: number | null = null;

  /** @param redis a connection that sends commands. @param ownMs the time of this machine */
  constructor(
    private readonly redis: Redis,
    private readonly ownMs: () => number = Date.now,
  ) {
    redis.on('ready', () => void this.ask());
    whileReady(redis, () => void this.ask());
  }

  readonly nowMs = (): number =>
    this.offsetMs === null ? this.ownMs() : Math.floor(performance.now() + this.offsetMs);

  private async ask(): Promise<void> {
    const askedMs = performance.now();
    try {
      const [seconds, microseconds] = await this.redis.time();
      const redisMs = seconds * 1_000 + microseconds / 1_000;
      this.offsetMs = redisMs - (askedMs + performance.now()) / 2;
    } catch {
      // The connection is down, or the user of Redis may not ask: the time before, or our own, has to do.
    }
    this.answer.resolve(undefined);
  }
}
