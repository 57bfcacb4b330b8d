import { includesScope } from '../callers/scope.js';
import { RequestError } from '../errors/errors.js';
import type { Next, Request, Response } from '../routing/http.js';

/**
 * Refuses a call beyond the scope of its token (decisions §11). It is a middleware and no guard of Nest, because guards
 * run after the body is read: a token with scope `read` could fill the memory with bodies.
 */
export function checkScope({ context, headers }: Request, _response: Response, next: Next): void {
  const { caller, route } = context;
  if (caller === null || route === null) throw new Error('the token must be checked first');
  if (!includesScope(caller.scope, route.scope)) {
    const hasBody = 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0;
    throw new RequestError(
      'scopeMissing',
      `This call needs a token with scope ${route.scope}`,
      // The body is not read, so the connection cannot be used again.
      hasBody ? { Connection: 'close' } : {},
    );
  }
  next();
}
