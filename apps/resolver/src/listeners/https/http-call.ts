import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';

/** Largest accepted headers of a request. A query in a URI has at most 5,462 characters. */
export const MAX_HEADER_BYTES = 8_192;

/** One HTTP request and the way to answer it, for HTTP/1.1 and HTTP/2. */
export interface HttpCall {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly contentType: string;
  readonly body: Readable;
  /** Size of the headers. */
  readonly headerBytes: number;
  /** Answers, once. A client that has gone is no error. */
  respond(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void;
  /** Ends the request without an answer, or with what has left of it. */
  abort(): void;
  /** `listener` is called once: the answer has left this process (`isReset`: not all of it), or the client has gone. */
  onClose(listener: (isReset: boolean) => void): void;
}

export class Http2Call implements HttpCall {
  readonly method: string;
  readonly target: string;
  readonly contentType: string;
  readonly headerBytes: number;

  /** @param rawHeaders names and values in turn */
  constructor(
    readonly body: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ) {
    this.headerBytes = totalLength(rawHeaders);
    this.method = headers[':method'] ?? '';
    this.target = headers[':path'] ?? '';
    this.contentType = headers['content-type'] ?? '';
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    const { body: stream } = this;
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ':status': status, ...headers });
    stream.end(body);
    stream.resume();
    // The rest of the request body is not wanted (RFC 9113 §8.1).
    if (!stream.endAfterHeaders && !stream.readableEnded) stream.close();
  }

  abort(): void {
    this.body.close(constants.NGHTTP2_CANCEL);
  }

  onClose(listener: (isReset: boolean) => void): void {
    this.body.once('close', () => {
      listener(this.body.rstCode !== constants.NGHTTP2_NO_ERROR);
    });
  }
}

export class Http1Call implements HttpCall {
  readonly method: string;
  readonly target: string;
  readonly contentType: string;
  readonly headerBytes: number;

  constructor(
    readonly body: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.headerBytes = totalLength(body.rawHeaders) + (body.url?.length ?? 0);
    this.method = body.method ?? '';
    this.target = body.url ?? '';
    this.contentType = body.headers['content-type'] ?? '';
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    const { response } = this;
    if (response.destroyed) return;
    // An unread body would delay the next request of this connection.
    const isLast = hasBody(this.body) && !this.body.complete;
    response.writeHead(status, isLast ? { ...headers, connection: 'close' } : headers);
    response.end(body);
  }

  abort(): void {
    this.body.socket.destroy();
  }

  onClose(listener: (isReset: boolean) => void): void {
    this.response.once('close', () => {
      listener(!this.response.writableFinished);
    });
  }
}

function totalLength(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** RFC 9112 §6. */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
