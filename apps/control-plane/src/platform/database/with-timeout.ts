import { endsWithin } from '@weir/change-feed/runtime';

/** How long health checks and metrics wait for PostgreSQL: their callers have a deadline too. */
export const PROBE_TIMEOUT_MS = 1_500;

/**
 * What the work resolves to, or `fallback` when it takes longer, measured as `endsWithin` does. It is not cancelled.
 */
export async function withTimeout<T>(
  work: Promise<T>,
  fallback: T,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<T> {
  return (await endsWithin(work, timeoutMs)) ? work : fallback;
}
