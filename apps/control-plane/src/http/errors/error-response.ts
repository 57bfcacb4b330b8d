import { CommitUnknownError } from '../../platform/database/commit-outcome.js';
import {
  DatabaseMismatchError,
  isDatabaseUnreachable,
  isLockTimeout,
} from '../../platform/database/database-errors.js';
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

/** Errors of the database and the write queue; null for any other error. */
function toRequestError(error: unknown): RequestError | null {
  // No `Retry-After`: to repeat a change that was made is no retry.
  if (error instanceof CommitUnknownError) return new RequestError('commitUnknown');
  const code = unavailability(error);
  return code && new RequestError(code, undefined, { 'Retry-After': '1' });
}

/** Why the request cannot be served at the moment (503, nothing was changed); null for any other failure. */
function unavailability(error: unknown): ErrorCode | null {
  if (error instanceof WriteQueueTimeoutError || isLockTimeout(error)) return 'busy';
  if (error instanceof DatabaseMismatchError) return 'mismatch';
  return isDatabaseUnreachable(error) ? 'databaseUnreachable' : null;
}
