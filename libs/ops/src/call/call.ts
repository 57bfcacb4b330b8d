import { request } from 'node:http';
import { text } from 'node:stream/consumers';

const EVERY_ADDRESS: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '::': '127.0.0.1',
};

/** Longest time without a byte of the answer to a GET. A POST may take any time. */
const GET_TIMEOUT_MS = 4_000;

interface CallResult {
  readonly isDone: boolean;
  /** What the process answered, or why it did not. */
  readonly text: string;
}

/**
 * Makes a call on the ops port of the process in the same container, which has these variables, with the first token of
 * `OPS_TOKENS`.
 * @param body JSON for a POST; undefined for a GET
 */
export function callOwnOpsPort(
  path: string,
  body: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CallResult> {
  const given = environment['OPS_HOST']?.trim() || '127.0.0.1';
  const host = EVERY_ADDRESS[given] ?? given;
  const port = environment['OPS_PORT']?.trim() || '9090';
  const token = environment['OPS_TOKENS']?.split(',')[0].trim() ?? '';
  const [method, timeout] = body === undefined ? ['GET', GET_TIMEOUT_MS] : ['POST', 0];
  return new Promise((resolve) => {
    const fail = (error: Error): void => {
      resolve({ isDone: false, text: `${path} on port ${port}: ${error.message}` });
    };
    const headers = { Authorization: `Bearer ${token}` };
    const options = { host, port, path, method, headers, timeout, agent: false };
    const sent = request(options, (response) => {
      text(response).then((answer) => {
        resolve({ isDone: response.statusCode === 200, text: answer.trim() });
      }, fail);
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${timeout} ms`)));
    sent.on('error', fail).end(body);
  });
}
