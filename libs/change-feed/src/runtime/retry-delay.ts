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
