import type { ClientAddress } from '@weir/clients';
import type { Span } from '@weir/telemetry';
import type { Caller } from '../callers/tokens.js';
import type { PathParts, Route } from './route-table.js';

/** The body of a request: absent, not JSON, too large to be parsed, a parsed value, or a stream to be read. */
export type ParsedBody =
  | { readonly state: 'absent' }
  | { readonly state: 'invalid' }
  | { readonly state: 'tooLarge' }
  | { readonly state: 'json'; readonly value: unknown }
  | { readonly state: 'streamed'; readonly bytes: AsyncIterable<Uint8Array> };

/** Where a request came from. */
export interface RequestSource {
  readonly address: ClientAddress;
  /** The same address as text. */
  readonly text: string;
}

/** What the pipeline has found out about a request. */
export interface RequestContext {
  /** Also in `X-Request-Id`, in the log, and in the response to an unexpected error. */
  readonly id: string;
  /** Null: not a valid address. */
  readonly source: RequestSource | null;
  /** Null until the token was checked. */
  caller: Caller | null;
  /** The matched route; null before the routing, and when no route matches. */
  route: Route | null;
  pathParts: PathParts;
  /** When it came, as `performance.now()` tells it. */
  readonly startedMs: number;
  /** Null until its body was read, and when it is not traced. */
  span: Span | null;
  body: ParsedBody;
}
