import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestContext } from './request-context.js';

/** The part of an Express request that is used here, with our own context. */
export interface Request extends IncomingMessage {
  /** Set by `beginRequest`. */
  context: RequestContext;
  /** Without the query. */
  readonly path: string;
  method: string;
  url: string;
  /** The route that Express has found. */
  readonly route?: { readonly path: string };
  /** The value of `@Param()` in controllers. */
  params: unknown;
  /** The value of `@Body()` in controllers. */
  body: unknown;
}

export interface Response extends ServerResponse {
  status(code: number): this;
  set(headers: Readonly<Record<string, string>>): this;
  json(body: unknown): this;
}

export type Next = (error?: unknown) => void;

export type Middleware = (request: Request, response: Response, next: Next) => void;
