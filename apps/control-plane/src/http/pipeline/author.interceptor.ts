import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { actAs } from '../../revisions/author.js';
import { Endpoints } from '../routing/endpoints.js';
import type { Request } from '../routing/http.js';

/** Names the author of the changes that a handler makes. */
@Injectable()
export class AuthorInterceptor implements NestInterceptor {
  constructor(private readonly endpoints: Endpoints) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = execution.switchToHttp().getRequest<Request>();
    const { id, source, caller, span } = request.context;
    const route = this.endpoints.patternOf(request);
    // A change without an author fails.
    if (caller === null || route === null) return next.handle();
    const author = {
      origin: 'api',
      token: caller.name,
      source: source?.text ?? null,
      requestId: id,
      method: request.method,
      route,
    } as const;
    // Nest keeps the context of this call for the handler.
    return actAs(author, () => next.handle(), span);
  }
}
