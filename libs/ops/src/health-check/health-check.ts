import { get } from 'node:http';

/** The health paths: whether the process runs, and whether it can serve. */
export const HEALTH_PATHS = ['livez', 'readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

const TIMEOUT_MS = 4_000;
const LONGEST_REASON = 500;
const EVERY_ADDRESS: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '::': '127.0.0.1',
};

/**
 * Checks the process that serves its health on `OPS_HOST` and `OPS_PORT` of `environment`, in the same container.
 * @returns null when it is healthy, else the reason.
 */
export function checkHealth(
  path: HealthPath,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const host = environment['OPS_HOST']?.trim() || '127.0.0.1';
  const port = environment['OPS_PORT']?.trim() || '9090';
  return new Promise((resolve) => {
    const request = get(
      { host: EVERY_ADDRESS[host] ?? host, port, path: `/${path}`, timeout: TIMEOUT_MS },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text = (text + chunk).slice(0, LONGEST_REASON)));
        response.on('end', () => {
          resolve(response.statusCode === 200 ? null : text.trim());
        });
      },
    );
    request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.on('error', (error) => {
      resolve(`/${path} on port ${port}: ${error.message}`);
    });
  });
}
