import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** The logger of both ends of the feed; a pino logger has this shape. */
export interface FeedLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A fault that lasts, because Redis may refuse something for ever. Each reason is logged once in a row. */
export class LastingFault {
  private reason = '';

  constructor(
    private readonly log: FeedLogger,
    private readonly message: string,
  ) {}

  get isThere(): boolean {
    return this.reason !== '';
  }

  note(error: unknown, fields: object = {}): void {
    const reason = String(error);
    if (reason !== this.reason) this.log.warn({ ...fields, reason }, this.message);
    this.reason = reason;
  }

  end(): void {
    this.reason = '';
  }
}

const TICK_MS = 50;

/**
 * Whether the work ends within about this time, well or not. What counts is how often a short timer has fired: a
 * process that was itself suspended, or got no processor, does not blame the work.
 */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const tooLong = Promise.withResolvers<false>();
  let waitedMs = 0;
  const timer = setInterval(() => {
    waitedMs += TICK_MS;
    if (waitedMs >= limitMs) tooLong.resolve(false);
  }, TICK_MS);
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, tooLong.promise]);
  } finally {
    clearInterval(timer);
  }
}

const FIRST_MS = 50;
const LAST_MS = 2_000;

/**
 * The pause before the next attempt: exponential backoff up to `lastMs`, less a jitter of up to a half, so that
 * followers that failed together do not retry together.
 * @param failures before this one. @param random from 0 to 1.
 */
export function retryDelayMs(failures: number, random: number, lastMs = LAST_MS): number {
  return Math.min(FIRST_MS * 2 ** failures, lastMs) * (0.5 + random / 2);
}

/** Call it after each addition, so that no more than `most` are kept: the newest ones. */
export function dropOldest<K>(kept: Map<K, unknown> | Set<K>, most: number): void {
  if (kept.size <= most) return;
  for (const oldest of kept.keys().take(1)) kept.delete(oldest);
}

const MAX_BLOCKING_MS = 2;

/** For long work: lets other callbacks of the process run, such as queries, after every two milliseconds of work. */
export class Yielder {
  private startedMs = performance.now();

  get isDue(): boolean {
    return performance.now() - this.startedMs >= MAX_BLOCKING_MS;
  }

  /** Call it between two steps of the work. Resolves at once while the two milliseconds are not over. */
  async yieldIfDue(): Promise<void> {
    if (this.isDue) await this.yieldNow();
  }

  async yieldNow(): Promise<void> {
    await yieldToEventLoop();
    this.startedMs = performance.now();
  }
}
