import type { PathParts, Route } from './route-table.js';

/** The body of a request: absent, invalid JSON, a parsed value, or a stream that is still to be read. */
export type ParsedBody =
  | { readonly state: 'absent' }
  | { readonly state: 'invalid' }
  | { readonly state: 'json'; readonly value: unknown }
  | { readonly state: 'streamed'; readonly bytes: AsyncIterable<Uint8Array> };

/** What the pipeline has found out about a request. */
export interface RequestContext {
  /** Also in `X-Request-Id`, in the log, and in the response to an unexpected error. */
  readonly id: string;
  /** The matched route; null before the routing, and when no route matches. */
  route: Route | null;
  pathParts: PathParts;
  body: ParsedBody;
}
