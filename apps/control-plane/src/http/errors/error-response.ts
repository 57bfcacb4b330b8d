import { HttpException } from '@nestjs/common';
import { CommitUnknownError } from '../../platform/database/commit-outcome.js';
import { isDatabaseUnreachable, isLockTimeout } from '../../platform/database/database-errors.js';
import { WriteQueueTimeoutError } from '../../revisions/write-queue.js';
import { InvalidRequestError } from '../validation/fault.js';
import { type ErrorCode, ERRORS, RequestError } from './errors.js';

/** The response to a request that failed. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** True for an unknown error: the log gets its details, and the response does not. */
  readonly unexpected: boolean;
}

/** Converts any error to a response (decisions §1). The response never contains a stack, SQL or a file path. */
export function toErrorResponse(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof InvalidRequestError) {
    return { status: 422, headers: {}, body: { detail: error.faults }, unexpected: false };
  }
  const known = error instanceof RequestError ? error : toRequestError(error);
  if (known) {
    const { status } = ERRORS[known.code];
    return { status, headers: known.headers, body: { detail: known.detail }, unexpected: false };
  }
  const { status, detail } = ERRORS.internal;
  return { status, headers: {}, body: { detail, request_id: requestId }, unexpected: true };
}

/** Errors of the database, the write queue and the body parser; null for any other error. */
function toRequestError(error: unknown): RequestError | null {
  const unavailable = unavailability(error);
  if (unavailable !== null) {
    return new RequestError(unavailable, undefined, { 'Retry-After': '1' });
  }
  const { type, code } = bodyParserError(error);
  const known = BODY_PARSER_ERRORS[String(type)];
  // The rest of the body is not read, so the connection cannot be used again.
  if (known !== undefined) return new RequestError(known, undefined, { Connection: 'close' });
  return /^(Z|BROTLI|ERR_BROTLI|ZSTD)_/.test(String(code)) ? new RequestError('notJson') : null;
}

/** Why the request cannot be served at the moment (503); null for any other failure. */
function unavailability(error: unknown): ErrorCode | null {
  if (error instanceof CommitUnknownError) return 'commitUnknown';
  if (error instanceof WriteQueueTimeoutError || isLockTimeout(error)) return 'busy';
  return isDatabaseUnreachable(error) ? 'databaseUnreachable' : null;
}

/** Types of the errors of the body parser. */
const BODY_PARSER_ERRORS: Readonly<Partial<Record<string, ErrorCode>>> = {
  'entity.too.large': 'bodyTooLarge',
  'encoding.unsupported': 'notJson',
  'request.aborted': 'notJson',
  'request.size.invalid': 'notJson',
};

/** Nest wraps the error of the body parser. A code of zlib means that the body does not match its Content-Encoding. */
function bodyParserError(error: unknown): { type?: unknown; code?: unknown } {
  const own = error instanceof HttpException ? error.cause : error;
  return typeof own === 'object' && own !== null ? own : {};
}
