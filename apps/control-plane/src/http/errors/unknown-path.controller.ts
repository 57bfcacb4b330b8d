import { All, Controller, Req, Res } from '@nestjs/common';
import { Endpoints } from '../routing/endpoint.js';
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

/**
 * Gets every request that no endpoint serves: OPTIONS, and what is 404 or 405. It is a controller, so that the guard
 * comes first: without a token, an unknown path is 401 (decisions §8).
 */
@Controller()
export class UnknownPathController {
  constructor(private readonly endpoints: Endpoints) {}

  @All('{*path}')
  answer(@Req() request: Request, @Res() response: Response): void {
    const methods = this.endpoints.methodsOf(request.path);
    if (methods.length === 0) throw new RequestError('pathNotFound');
    answerOtherMethod(request, response, methods);
  }
}
