import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { CommitUnknownError } from '../../platform/database/commit-outcome.js';
import {
  DatabaseMismatchError,
  isDatabaseUnreachable,
  isLockTimeout,
} from '../../platform/database/database-errors.js';
import { PROCESS, type Process } from '../../process.js';
import { type ErrorCode, ERRORS, RequestError } from '../errors/errors.js';
import type { Request, Response } from '../routing/http.js';
import { InvalidRequestError } from '../validation/fault.js';
import { BodyFraming } from './body-stream.js';

/** The response to any error (decisions §1). It never contains a stack, SQL or a file path. */
function toReply(
  error: unknown,
  requestId: string,
): { readonly status: number; readonly headers: RequestError['headers']; readonly body: object } {
  if (error instanceof InvalidRequestError) {
    return { status: 422, headers: {}, body: { detail: error.faults } };
  }
  if (error instanceof RequestError) {
    return {
      status: ERRORS[error.code].status,
      headers: error.headers,
      body: { detail: error.detail },
    };
  }
  const code = codeOf(error);
  const { status, detail } = ERRORS[code];
  if (code === 'internal') return { status, headers: {}, body: { detail, request_id: requestId } };
  // To repeat a change that was made is no retry.
  const headers = code === 'commitUnknown' ? {} : { 'Retry-After': '1' };
  return { status, headers, body: { detail } };
}

/** Of errors of the database and the write queue: nothing was changed, or nobody knows. */
function codeOf(error: unknown): ErrorCode {
  if (error instanceof CommitUnknownError) return 'commitUnknown';
  if (isLockTimeout(error)) return 'busy';
  if (error instanceof DatabaseMismatchError) return 'mismatch';
  return isDatabaseUnreachable(error) ? 'databaseUnreachable' : 'internal';
}

/** As long as the longest body that is parsed whole, so that all of its clients get their response. */
const MAX_REST_BYTES = 16 * 2 ** 20;
/** Longest pause of a client that sends. */
const PATIENCE_MS = 2_000;
/** Before each of the next chunks: what is thrown away must not take the processor from others. */
const PAUSE_MS = 5;

/**
 * Reads what is left of the body of an answered request, and throws it away: a client that sends until its connection
 * is closed could lose the response. It is read slowly. A long rest, one that does not come, or one that is mostly
 * framing ends the connection.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  const end = (): void => {
    request.socket.destroy();
  };
  let bytes = 0;
  const timer = setTimeout(() => {
    // After a pause of the process a timer comes before what has arrived meanwhile.
    const before = bytes;
    setImmediate(() => {
      if (bytes === before) end();
    });
  }, PATIENCE_MS);
  const framing = new BodyFraming(request);
  request.on('data', (chunk: Buffer) => {
    timer.refresh();
    bytes += chunk.length;
    if (bytes > MAX_REST_BYTES || framing.isExcessive(chunk.length)) return end();
    request.pause();
    setTimeout(() => request.resume(), PAUSE_MS);
  });
  request.once('close', () => {
    clearTimeout(timer);
  });
  request.resume();
}

/** Sends the response to every error of a request, wherever it was thrown. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(@Inject(PROCESS) private readonly process: Process) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const requestId = request.context.id;
    const { status, headers, body } = toReply(error, requestId);
    const { log } = this.process;
    // An unknown error: the log gets its details, and the response does not.
    if (status === ERRORS.internal.status) {
      log.error({ err: error, request_id: requestId }, 'request failed');
    } else if (status >= 503) {
      const reason = lastLine(error);
      log.warn({ reason, request_id: requestId }, `request answered with ${status}`);
    }
    if (response.headersSent) {
      // A part of the response has been sent. Only a broken connection tells the client that it is incomplete.
      response.destroy();
      return;
    }
    response.status(status).set(headers).json(body);
    discardRest(request);
  }
}

/** The last line of a message. Prisma's messages begin with an excerpt of the source code. */
function lastLine(error: unknown): string {
  return String(error).trimEnd().split('\n').at(-1) ?? '';
}
