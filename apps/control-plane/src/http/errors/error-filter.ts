import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from '@weir/ops';
import type { Request, Response } from '../routing/http.js';
import { toErrorResponse } from './error-response.js';

/** Answers every failure of a request, wherever on its way it happened. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const requestId = request.context.id;
    const answer = toErrorResponse(error, requestId);
    if (answer.unexpected) this.log.error({ err: error, request_id: requestId }, 'request failed');
    else if (answer.status === 503)
      this.log.warn({ reason: lastLine(error), request_id: requestId }, 'request refused for now');
    if (response.headersSent) {
      // Half an answer is out: only a broken connection tells the client that it is not whole.
      response.destroy();
      return;
    }
    response.status(answer.status).set(answer.headers).json(answer.body);
  }
}

/** Prisma's messages begin with a piece of the program. */
function lastLine(error: unknown): string {
  return String(error).trimEnd().split('\n').at(-1) ?? '';
}
