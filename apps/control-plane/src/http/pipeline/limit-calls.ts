import { CallCounter, type CallLimits } from '../callers/call-limits.js';
import { RequestError } from '../errors/errors.js';
import type { Middleware } from '../routing/http.js';

/** Refuses calls beyond the limits of their token (429), before anything is read or parsed for them. */
export function limitCalls(limits: CallLimits): Middleware {
  const counter = new CallCounter(limits);
  return (request, response, next) => {
    const { caller } = request.context;
    if (caller === null) throw new Error('the token must be checked first');
    if (!counter.begin(caller.name, performance.now())) {
      throw new RequestError('tooManyCalls', undefined, { 'Retry-After': '1' });
    }
    response.once('close', () => counter.end(caller.name));
    next();
  };
}
