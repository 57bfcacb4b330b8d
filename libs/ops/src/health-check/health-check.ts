import { get } from 'node:http';
import { ownOpsPort } from '../own-ops-port.js';

/** The health paths: whether the process runs, and whether it can serve. */
export const HEALTH_PATHS = ['livez', 'readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

const TIMEOUT_MS = 4_000;
const LONGEST_REASON = 500;

/**
 * Checks the process that serves its health on `OPS_HOST` and `OPS_PORT` of `environment`, in the same container.
 * @returns null when it is healthy, else the reason.
 */
export function checkHealth(
  path: HealthPath,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const { host, port } = ownOpsPort(environment);
  return new Promise((resolve) => {
    const request = get({ host, port, path: `/${path}`, timeout: TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text = (text + chunk).slice(0, LONGEST_REASON)));
      response.on('end', () => {
        resolve(response.statusCode === 200 ? null : text.trim());
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.on('error', (error) => {
      resolve(`/${path} on port ${port}: ${error.message}`);
    });
  });
}
