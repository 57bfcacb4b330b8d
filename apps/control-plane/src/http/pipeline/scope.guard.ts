import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { scopeOf } from '../callers/require-scope.js';
import { includesScope } from '../callers/scope.js';
import { RequestError } from '../errors/errors.js';
import type { Request } from '../routing/http.js';

/** Refuses a call beyond the scope of its token (decisions §11). */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(execution: ExecutionContext): boolean {
    const { method, context } = execution.switchToHttp().getRequest<Request>();
    const needed = scopeOf(this.reflector, execution.getHandler(), method);
    if (context.caller !== null && includesScope(context.caller.scope, needed)) return true;
    throw new RequestError(
      'scopeMissing',
      `This call needs a token with scope ${needed}`,
      // The rest of a streamed body is not read, so the connection cannot be used again.
      context.body.state === 'streamed' ? { Connection: 'close' } : {},
    );
  }
}
