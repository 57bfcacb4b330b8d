import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { CallCounter } from '../callers/call-limits.js';
import { RequestError } from '../errors/errors.js';
import type { Request, Response } from '../routing/http.js';
import { HTTP_OPTIONS, type HttpOptions } from './http-options.js';

/** Refuses calls beyond the limits of their token (429), before anything is read or parsed for them. */
@Injectable()
export class CallLimitGuard implements CanActivate {
  private readonly counter: CallCounter;

  constructor(@Inject(HTTP_OPTIONS) { callLimits }: HttpOptions) {
    this.counter = new CallCounter(callLimits);
  }

  canActivate(execution: ExecutionContext): boolean {
    const http = execution.switchToHttp();
    const { caller } = http.getRequest<Request>().context;
    // `TokenGuard` lets nobody pass without a token, except to public pages.
    if (caller === null) return true;
    if (!this.counter.begin(caller.name, performance.now())) {
      throw new RequestError('tooManyCalls', undefined, { 'Retry-After': '1' });
    }
    http.getResponse<Response>().once('close', () => this.counter.end(caller.name));
    return true;
  }
}
