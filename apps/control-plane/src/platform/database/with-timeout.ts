import { endsWithin } from '@weir/change-feed/runtime';

/** How long health checks and metrics wait for PostgreSQL: their callers have a deadline too. */
export const PROBE_TIMEOUT_MS = 1_500;

/**
 * What the work resolves to, or `fallback` when it takes longer than `timeoutMs`, measured as `endsWithin` does.
 * Rejects when the work does before that. The work is not cancelled; its result, or its error, is ignored afterwards.
 */
export async function withTimeout<T>(
  work: Promise<T>,
  fallback: T,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<T> {
  return (await endsWithin(work, timeoutMs)) ? work : fallback;
}
