import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { RequestError } from '../errors/errors.js';
import type { Request } from '../routing/http.js';
import { HTTP_OPTIONS, type HttpOptions } from './http-options.js';

/**
 * Refuses sources that are not approved. It comes before the token, so that such a source learns nothing about tokens.
 */
@Injectable()
export class SourceGuard implements CanActivate {
  constructor(@Inject(HTTP_OPTIONS) private readonly options: HttpOptions) {}

  canActivate(execution: ExecutionContext): boolean {
    const { source } = execution.switchToHttp().getRequest<Request>().context;
    const { allowedSources } = this.options;
    if (!allowedSources || (source !== null && allowedSources.has(source.address))) return true;
    throw new RequestError('sourceNotApproved');
  }
}
