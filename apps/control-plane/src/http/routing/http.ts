import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestContext } from './request-context.js';

/** A request as Express hands it on: the part of it that is used here, and our own context. */
export interface Request extends IncomingMessage {
  /** Set by the first step of the pipeline. */
  context: RequestContext;
  /** Without the query. */
  readonly path: string;
  method: string;
  url: string;
  /** What `@Param()` gives to controllers. */
  params: unknown;
  /** What `@Body()` gives to controllers; before that, the bytes. */
  body: unknown;
}

export interface Response extends ServerResponse {
  status(code: number): this;
  set(headers: Readonly<Record<string, string>>): this;
  json(body: unknown): this;
}

export type Next = (error?: unknown) => void;

/** One step of what every request passes. */
export type Step = (request: Request, response: Response, next: Next) => void;
