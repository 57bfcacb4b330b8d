import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { scopeOf } from '../callers/require-scope.js';
import { includesScope } from '../callers/scope.js';
import { RequestError } from '../errors/errors.js';
import type { Request } from '../routing/http.js';

/** Refuses a call beyond the scope of its token (decisions §11), before its body is read. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(execution: ExecutionContext): boolean {
    const request = execution.switchToHttp().getRequest<Request>();
    const { caller } = request.context;
    // `TokenGuard` lets nobody pass without a token, except to public pages.
    if (caller === null) return true;
    const needed = scopeOf(this.reflector, execution.getHandler(), request.method);
    if (includesScope(caller.scope, needed)) return true;
    throw new RequestError('scopeMissing', `This call needs a token with scope ${needed}`);
  }
}
