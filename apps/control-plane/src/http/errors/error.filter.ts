import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from '@weir/ops';
import type { Request, Response } from '../routing/http.js';
import { discardRest } from './discard-rest.js';
import { toErrorResponse } from './error-response.js';

/** Sends the response to every error of a request, wherever it was thrown. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const requestId = request.context.id;
    const reply = toErrorResponse(error, requestId);
    if (reply.unexpected) this.log.error({ err: error, request_id: requestId }, 'request failed');
    else if (reply.status >= 503)
      this.log.warn(
        { reason: lastLine(error), request_id: requestId },
        `request answered with ${reply.status}`,
      );
    if (response.headersSent) {
      // A part of the response has been sent. Only a broken connection tells the client that it is incomplete.
      response.destroy();
      return;
    }
    response.status(reply.status).set(reply.headers).json(reply.body);
    discardRest(request);
  }
}

/** The last line of a message. Prisma's messages begin with an excerpt of the source code. */
function lastLine(error: unknown): string {
  return String(error).trimEnd().split('\n').at(-1) ?? '';
}
