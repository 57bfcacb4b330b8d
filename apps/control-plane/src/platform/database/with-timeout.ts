import { endsWithin } from '@weir/change-feed/runtime';

/** How long health checks and metrics wait for PostgreSQL: their callers have a deadline too. */
export const PROBE_TIMEOUT_MS = 1_500;

/**
 * What the query resolves to, or `fallback` when it takes longer than `timeoutMs` (`endsWithin`). Rejects when the
 * query does before that. The query is not cancelled; its result, or its error, is ignored afterwards.
 */
export async function withTimeout<T>(
  query: Promise<T>,
  fallback: T,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<T> {
  return (await endsWithin(query, timeoutMs)) ? query : fallback;
}
