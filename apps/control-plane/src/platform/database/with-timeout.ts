import { setTimeout as sleep } from 'node:timers/promises';

/** How long health checks and metrics wait for PostgreSQL: their callers have a deadline too. */
export const PROBE_TIMEOUT_MS = 1_500;

/**
 * What the query resolves to, or `fallback` when it takes longer than `timeoutMs`. Rejects when the query does before
 * that. The query is not cancelled; its result, or its error, is ignored afterwards.
 */
export function withTimeout<T>(
  query: Promise<T>,
  fallback: T,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<T> {
  return Promise.race([query, sleep(timeoutMs, fallback, { ref: false })]);
}
