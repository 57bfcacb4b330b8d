import { All, Controller, Req, Res } from '@nestjs/common';
import { RequestError } from '../errors/errors.js';
import { answerOtherMethod } from '../errors/other-method.js';
import { Endpoints } from '../routing/endpoints.js';
import type { Request, Response } from '../routing/http.js';

/**
 * Gets every request that no endpoint serves: OPTIONS, and what is 404 or 405. It is a controller, so that the guards
 * come first: without a token, an unknown path is 401 (decisions §8).
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
