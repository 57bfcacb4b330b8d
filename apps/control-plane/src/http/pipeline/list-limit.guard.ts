import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { CallCounter } from '../callers/call-limits.js';
import { RequestError } from '../errors/errors.js';
import { endpointOf } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';
import { HTTP_OPTIONS, type HttpOptions } from './http-options.js';

const DETAIL = 'Too many lists are being read with this token. Try again when one has ended';

/** Refuses further lists (429) to a token that reads many already, so that it leaves connections for others. */
@Injectable()
export class ListLimitGuard implements CanActivate {
  private readonly counter: CallCounter;

  constructor(@Inject(HTTP_OPTIONS) { callLimits: { perSecond, listsAtOnce } }: HttpOptions) {
    this.counter = new CallCounter({ perSecond, atOnce: listsAtOnce });
  }

  canActivate(execution: ExecutionContext): boolean {
    const http = execution.switchToHttp();
    const { caller } = http.getRequest<Request>().context;
    if (caller === null || !endpointOf(execution.getHandler())?.isListing) return true;
    if (!this.counter.begin(caller.name, performance.now())) {
      throw new RequestError('tooManyCalls', DETAIL, { 'Retry-After': '1' });
    }
    http.getResponse<Response>().once('close', () => this.counter.end(caller.name));
    return true;
  }
}
