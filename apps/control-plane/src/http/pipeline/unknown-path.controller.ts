import { All, Controller, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { RequireScope } from '../callers/require-scope.js';
import { RequestError } from '../errors/errors.js';
import { answerOtherMethod } from '../errors/other-method.js';
import type { Request, Response } from '../routing/http.js';
import { NoEndpoint } from '../routing/request-shape.js';

/** What Express's router knows about one of its routes. */
interface RouterLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
}

const ANY_PATH = '{*path}';

/**
 * Gets every request that no endpoint serves: OPTIONS, and what is 404 or 405. It is a controller, so that the guards
 * come first: without a token, an unknown path is 401 (decisions §8).
 */
@NoEndpoint(true)
@Controller()
export class UnknownPathController {
  constructor(private readonly host: HttpAdapterHost) {}

  @All(ANY_PATH)
  @RequireScope('read')
  answer(@Req() request: Request, @Res() response: Response): void {
    const methods = this.methodsOf(request.path);
    if (methods.length === 0) throw new RequestError('pathNotFound');
    answerOtherMethod(request, response, methods);
  }

  /** Asks the routes of Express itself, so that there is no second opinion on what a path matches. */
  private methodsOf(path: string): string[] {
    const { router } = this.host.httpAdapter.getInstance<{ router: { stack: RouterLayer[] } }>();
    const methods = router.stack
      .filter((layer) => layer.route && layer.route.path !== `/${ANY_PATH}` && layer.match(path))
      .flatMap((layer) => Object.keys(layer.route?.methods ?? {}));
    return [...new Set(methods.map((method) => method.toUpperCase()))];
  }
}
