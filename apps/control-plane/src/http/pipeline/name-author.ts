import { actAs } from '../../revisions/author.js';
import type { Next, Request, Response } from '../routing/http.js';

/** Names the author of the changes that the rest of the request makes. */
export function nameAuthor(request: Request, _response: Response, next: Next): void {
  const { id, source, caller, route, span } = request.context;
  if (caller === null || route === null) throw new Error('the token must be checked first');
  const author = {
    origin: 'api',
    token: caller.name,
    source: source?.text ?? null,
    requestId: id,
    method: request.method,
    route: route.pattern,
  } as const;
  actAs(author, next, span);
}
