import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import { Readable } from 'node:stream';
import { map, type Observable } from 'rxjs';
import { Listing } from '../../revisions/listing.js';
import { WithRevision } from '../../revisions/with-revision.js';
import type { Response } from '../routing/http.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends a `WithRevision`: the revision and propagation as headers (decisions §1), a listing as a stream. */
@Injectable()
export class RevisionInterceptor implements NestInterceptor {
  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = execution.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((answer: unknown) => unwrap(answer, response)));
  }
}

function unwrap(answer: unknown, response: Response): unknown {
  if (!(answer instanceof WithRevision)) return answer;
  response.setHeader('X-Config-Revision', String(answer.revision));
  if (answer.applied !== null) {
    const { applied, total } = answer.applied;
    response.setHeader('X-Config-Applied', `${applied}/${total}`);
  }
  const result: unknown = answer.result;
  return result instanceof Listing ? toStream(result, response) : result;
}

function toStream(listing: Listing<unknown>, response: Response): StreamableFile {
  const stream = Readable.from(listing.json(), { objectMode: false });
  stream.once('close', () => void listing.close());
  // It closes the stream too. The client must not take the part for the whole.
  listing.whenTooSlow(() => response.destroy());
  return new StreamableFile(stream, { type: JSON_TYPE });
}
