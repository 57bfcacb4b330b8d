import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { includesScope } from '../callers/scope.js';
import { RequestError } from '../errors/errors.js';
import { endpointOf } from '../routing/endpoint.js';
import type { Request } from '../routing/http.js';

/** Refuses a call beyond the scope of its token (decisions §11), before its body is read. */
@Injectable()
export class ScopeGuard implements CanActivate {
  canActivate(execution: ExecutionContext): boolean {
    const { caller } = execution.switchToHttp().getRequest<Request>().context;
    // `TokenGuard` lets nobody pass without a token, except to public pages.
    if (caller === null) return true;
    const needed = endpointOf(execution.getHandler())?.scope ?? 'read';
    if (includesScope(caller.scope, needed)) return true;
    throw new RequestError('scopeMissing', `This call needs a token with scope ${needed}`);
  }
}
