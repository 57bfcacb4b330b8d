import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';

/** One HTTP request and the way to answer it, for HTTP/1.1 and HTTP/2. */
export interface HttpCall {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly contentType: string;
  readonly body: Readable;
  /**
   * Answers, once. A client that has gone is no error.
   * @param onGone called once, when the answer has left this process or the client has gone
   */
  respond(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    onGone: () => void,
  ): void;
}

export class Http2Call implements HttpCall {
  readonly method: string;
  readonly target: string;
  readonly contentType: string;

  constructor(
    readonly body: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
  ) {
    this.method = headers[':method'] ?? '';
    this.target = headers[':path'] ?? '';
    this.contentType = headers['content-type'] ?? '';
  }

  respond(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    onGone: () => void,
  ): void {
    const { body: stream } = this;
    if (stream.destroyed || stream.closed) {
      onGone();
      return;
    }
    stream.once('close', onGone);
    stream.respond({ ':status': status, ...headers });
    stream.end(body);
    // Discard the rest of the request body.
    stream.resume();
  }
}

export class Http1Call implements HttpCall {
  readonly method: string;
  readonly target: string;
  readonly contentType: string;

  constructor(
    readonly body: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.method = body.method ?? '';
    this.target = body.url ?? '';
    this.contentType = body.headers['content-type'] ?? '';
  }

  respond(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    onGone: () => void,
  ): void {
    const { response } = this;
    if (response.destroyed) {
      onGone();
      return;
    }
    response.once('close', onGone);
    // An unread body would delay the next request of this connection.
    const isLast = hasBody(this.body) && !this.body.complete;
    response.writeHead(status, isLast ? { ...headers, connection: 'close' } : headers);
    response.end(body);
  }
}

/** RFC 9112 §6. */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
