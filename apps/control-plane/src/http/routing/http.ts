import type { ClientAddress } from '@weir/clients';
import type { Span } from '@weir/telemetry';
import type express from 'express';
import type { Token } from '../callers/tokens.js';

export interface RequestSource {
  readonly address: ClientAddress;
  /** The same address as text. */
  readonly text: string;
}

/** What is known about a request besides what Express knows. */
interface RequestContext {
  /** Also in `X-Request-Id`, in the log, and in the response to an unexpected error. */
  readonly id: string;
  /** Null: not a valid address. */
  readonly source: RequestSource | null;
  /** Its token. Set by `CallerGuard`. */
  caller: Token | null;
  /** When it came, as `performance.now()` tells it. */
  readonly startedMs: number;
  /** Set by `CallInterceptor`; null when it is not traced. */
  span: Span | null;
}

/** A request of Express, with our own context. */
export interface Request extends express.Request<unknown, unknown, unknown, unknown> {
  /** Set by `beginRequest`. */
  context: RequestContext;
  /** The route that Express has found. */
  readonly route: { readonly path: string } | undefined;
}

export type Response = express.Response;
