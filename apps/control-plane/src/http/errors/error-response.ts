import { HttpException } from '@nestjs/common';
import { WriteQueueTimeoutError } from '../../revisions/write-queue.js';
import { InvalidRequestError } from '../validation/fault.js';
import { CommitUnknownError } from '../../platform/database/commit-outcome.js';
import { isDatabaseUnreachable } from '../../platform/database/database-errors.js';
import { type ErrorCode, ERRORS, RequestError } from './errors.js';

/** What a client is told of a failure. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether nobody foresaw it, so that the log should say more than the answer. */
  readonly unexpected: boolean;
}

/** The one place where a failure becomes an answer (decisions §1). No stack, SQL or path gets into it. */
export function toErrorResponse(error: unknown, requestId: string): ErrorResponse {
  if (error instanceof InvalidRequestError) {
    return { status: 422, headers: {}, body: { detail: error.faults }, unexpected: false };
  }
  const known = error instanceof RequestError ? error : recognise(error);
  if (known) {
    const { status } = ERRORS[known.code];
    return { status, headers: known.headers, body: { detail: known.detail }, unexpected: false };
  }
  const { status, detail } = ERRORS.internal;
  return { status, headers: {}, body: { detail, request_id: requestId }, unexpected: true };
}

/** Failures that others than us report in their own way. */
function recognise(error: unknown): RequestError | null {
  const unavailable = unavailability(error);
  if (unavailable !== null) {
    return new RequestError(unavailable, undefined, { 'Retry-After': '1' });
  }
  const { type, code } = bodyReaderFault(error);
  const known = BODY_READER_FAULTS[String(type)];
  // What could not be read is left unread, so the connection cannot be used again.
  if (known !== undefined) return new RequestError(known, undefined, { Connection: 'close' });
  return /^(Z|BROTLI|ERR_BROTLI|ZSTD)_/.test(String(code)) ? new RequestError('notJson') : null;
}

/** Why the request cannot be served at the moment (503); null for any other failure. */
function unavailability(error: unknown): ErrorCode | null {
  if (error instanceof CommitUnknownError) return 'commitUnknown';
  if (error instanceof WriteQueueTimeoutError) return 'busy';
  return isDatabaseUnreachable(error) ? 'databaseUnreachable' : null;
}

/** Types of the body reader's errors. */
const BODY_READER_FAULTS: Readonly<Partial<Record<string, ErrorCode>>> = {
  'entity.too.large': 'bodyTooLarge',
  'encoding.unsupported': 'notJson',
  'request.aborted': 'notJson',
  'request.size.invalid': 'notJson',
};

/** The body reader's own error: Nest wraps it. Codes of zlib mean a body that is not compressed as it says. */
function bodyReaderFault(error: unknown): { type?: unknown; code?: unknown } {
  const own = error instanceof HttpException ? error.cause : error;
  return typeof own === 'object' && own !== null ? own : {};
}
