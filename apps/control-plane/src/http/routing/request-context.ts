import type { ClientAddress } from '@weir/clients';
import type { Span } from '@weir/telemetry';
import type { Caller } from '../callers/tokens.js';

/** Where a request came from. */
export interface RequestSource {
  readonly address: ClientAddress;
  /** The same address as text. */
  readonly text: string;
}

/** What is known about a request besides what Express knows. */
export interface RequestContext {
  /** Also in `X-Request-Id`, in the log, and in the response to an unexpected error. */
  readonly id: string;
  /** Null: not a valid address. */
  readonly source: RequestSource | null;
  /** Set by `TokenGuard`. */
  caller: Caller | null;
  /** When it came, as `performance.now()` tells it. */
  readonly startedMs: number;
  /** Set by `TraceInterceptor`; null when it is not traced. */
  span: Span | null;
}
