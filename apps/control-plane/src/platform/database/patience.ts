import { setTimeout as sleep } from 'node:timers/promises';

/** Longest that a question about the state of things waits for PostgreSQL: whoever asks has a deadline too. */
export const PATIENCE_MS = 3_000;

/** What the database answers, or `otherwise` when it takes longer than that. */
export function withinPatience<T>(
  answer: Promise<T>,
  otherwise: T,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  return Promise.race([answer, sleep(patienceMs, otherwise, { ref: false })]);
}
