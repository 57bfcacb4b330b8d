import type { ClientAddress } from '@weir/clients';
import type { Span } from '@weir/telemetry';
import type { IncomingMessage, ServerResponse } from 'node:http';
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
  /** Its token. Set by `TokenGuard`. */
  caller: Token | null;
  /** When it came, as `performance.now()` tells it. */
  readonly startedMs: number;
  /** Set by `RequestInterceptor`; null when it is not traced. */
  span: Span | null;
}

/** The part of an Express request that is used here, with our own context. */
export interface Request extends IncomingMessage {
  /** Set by `beginRequest`. */
  context: RequestContext;
  /** Without the query. */
  readonly path: string;
  method: string;
  url: string;
  /** Which of these types the client prefers, by its `Accept`. */
  accepts(types: readonly string[]): string | false;
  /** The route that Express has found. */
  readonly route?: { readonly path: string };
  /** The value of `@Param()` in controllers. */
  params: unknown;
  /** The value of `@Query()` in controllers. */
  readonly query: unknown;
  /** The value of `@Body()` in controllers. */
  body: unknown;
}

export interface Response extends ServerResponse {
  status(code: number): this;
  set(headers: Readonly<Record<string, string>>): this;
  json(body: unknown): this;
}
