import { callOwnOpsPort } from '../call/call.js';

/** The health paths: whether the process runs, and whether it can serve. */
export const HEALTH_PATHS = ['livez', 'readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

const TIMEOUT_MS = 4_000;
const LONGEST_REASON = 500;

/**
 * Checks the process in the same container, which has these variables, by its ops port.
 * @returns null when it is healthy, else the reason.
 */
export async function checkHealth(
  path: HealthPath,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const { isDone, text } = await callOwnOpsPort(`/${path}`, undefined, environment, TIMEOUT_MS);
  return isDone ? null : text.slice(0, LONGEST_REASON);
}
