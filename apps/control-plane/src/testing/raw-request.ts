import { type IncomingMessage, request } from 'node:http';
import { openApiChecker } from './openapi-checker.js';
import type { Answer } from './response.js';

/** Sends a request exactly as given: the path is not normalised as `fetch` does, and only `Host` is added. */
export async function rawRequest(
  baseUrl: string,
  options: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: string | Uint8Array;
    /** The rest of the body does not follow. */
    isCut?: boolean;
  },
): Promise<Answer> {
  const { hostname, port } = new URL(baseUrl);
  const { method, path, headers = {} } = options;
  const answer = await new Promise<Answer>((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers, agent: false });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('error', reject);
      response.once('end', () => resolve(readAnswer(response, text)));
    });
    if (options.isCut === true) outgoing.write(options.body);
    else outgoing.end(options.body);
  });
  openApiChecker()?.check(method, path, undefined, answer);
  return answer;
}

function readAnswer(response: IncomingMessage, text: string): Answer {
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(response.headers as Record<string, string>),
    body: text === '' ? undefined : JSON.parse(text),
  };
}
