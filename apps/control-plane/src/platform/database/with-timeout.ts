import { setTimeout as sleep } from 'node:timers/promises';

/** Longest time that health checks and metrics wait for PostgreSQL: their callers have a deadline too. */
export const PROBE_TIMEOUT_MS = 1_500;

/** The result of the query, or `fallback` when it takes longer than `timeoutMs`. The query itself is not cancelled. */
export function withTimeout<T>(
  query: Promise<T>,
  fallback: T,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<T> {
  return Promise.race([query, sleep(timeoutMs, fallback, { ref: false })]);
}
