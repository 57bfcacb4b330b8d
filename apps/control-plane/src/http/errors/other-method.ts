import type { Request, Response } from '../routing/http.js';
import { RequestError } from './errors.js';

/**
 * Answers a request whose path has no handler for its method: OPTIONS with 204 and the methods of the path.
 * @throws RequestError 405 for any other method.
 */
export function answerOtherMethod(
  request: Request,
  response: Response,
  methods: readonly string[],
): void {
  const all = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
  const headers = { Allow: all.join(', ') };
  if (request.method !== 'OPTIONS') {
    throw new RequestError('methodNotAllowed', undefined, headers);
  }
  response.status(204).set(headers).end();
}
