import type { PathParts, Route } from './route-table.js';

/** What a body came to: none was sent, it was no JSON, a value, or its bytes that are still to be read. */
export type ParsedBody =
  | { readonly state: 'absent' }
  | { readonly state: 'invalid' }
  | { readonly state: 'json'; readonly value: unknown }
  | { readonly state: 'streamed'; readonly bytes: AsyncIterable<Uint8Array> };

/** What is known of a request so far; each step of the pipeline adds its part. */
export interface RequestContext {
  /** Repeated in `X-Request-Id`, in the log, and in the answer to an unexpected failure. */
  readonly id: string;
  /** The route that the path and method lead to; null until then, and when there is none. */
  route: Route | null;
  pathParts: PathParts;
  body: ParsedBody;
}
