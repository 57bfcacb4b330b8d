import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { ownOpsPort } from '../own-ops-port.js';

export interface CallResult {
  readonly isDone: boolean;
  /** What the process answered, or why it did not. */
  readonly text: string;
}

/**
 * Makes a call on the ops port of the process in the same container, with the first token of `OPS_TOKENS` in
 * `environment`.
 * @param body JSON for a POST; undefined for a GET
 */
export function callOwnOpsPort(
  path: string,
  body: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CallResult> {
  const { host, port } = ownOpsPort(environment);
  const token = environment['OPS_TOKENS']?.split(',')[0].trim() ?? '';
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve) => {
    const fail = (error: Error): void => {
      resolve({ isDone: false, text: `${path} on port ${port}: ${error.message}` });
    };
    const headers = { Authorization: `Bearer ${token}` };
    request({ host, port, path, method, headers, agent: false }, (response) => {
      text(response).then((answer) => {
        resolve({ isDone: response.statusCode === 200, text: answer.trim() });
      }, fail);
    })
      .on('error', fail)
      .end(body);
  });
}
