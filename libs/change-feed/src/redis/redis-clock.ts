import type { Redis } from 'ioredis';

/** How often Redis is asked: its clock may be set. */
const ASK_INTERVAL_MS = 1_000;

/**
 * The time of Redis, in milliseconds since 1970. All processes of a deployment agree on it, whatever their own clocks
 * say. Until Redis has answered, it is the time of this machine.
 */
export class RedisClock {
  /** Resolves when Redis was asked for the first time, and has answered or refused. */
  readonly asked: Promise<void>;
  /** Time of Redis minus `performance.now()`. */
  private offsetMs: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private readonly onAnswer: () => void;

  /** @param redis a connection that sends commands. @param ownMs the time of this machine */
  constructor(
    private readonly redis: Redis,
    private readonly ownMs: () => number = Date.now,
  ) {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.asked = promise;
    this.onAnswer = () => {
      resolve(undefined);
    };
    redis.on('ready', () => {
      clearInterval(this.timer);
      this.timer = setInterval(() => void this.ask(), ASK_INTERVAL_MS);
      void this.ask();
    });
    redis.on('close', () => {
      clearInterval(this.timer);
    });
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
    this.onAnswer();
  }
}
