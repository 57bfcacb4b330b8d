const FIRST_MS = 50;
const LAST_MS = 2_000;

/**
 * The pause before an attempt is made again: twice as long after each failure, up to two seconds, and cut by up to a half, so that followers
 * that failed together do not come back together.
 * @param failures before this one. @param random from 0 to 1.
 */
export function retryDelayMs(failures: number, random: number): number {
  return Math.min(FIRST_MS * 2 ** failures, LAST_MS) * (0.5 + random / 2);
}
