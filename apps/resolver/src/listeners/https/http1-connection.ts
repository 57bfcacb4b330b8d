import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { DropReason } from '../../query/exchange.js';
import {
  type DohConnection,
  DohReply,
  answerHeaders,
  errorHeaders,
  MAX_HEADER_BYTES,
  readRequest,
  REQUEST_MS,
  RequestBody,
} from './doh.js';

// An import of node:http loads what belongs to `fetch` too: 7 MB of memory in each thread (Node 26).
const { createServer } = process.getBuiltinModule('node:http');

export type Body = { readonly bytes: Buffer } | 'too large' | 'broken off';

/**
 * Reads a body. Calls `done` once. The rest of one that is too large stays unread.
 * @param onGrow called with the bytes of memory that are taken beyond those before
 */
export function readBody(
  stream: Readable,
  done: (body: Body) => void,
  onGrow: (bytes: number) => void = () => undefined,
): void {
  const body = new RequestBody();
  const finish = (result: Body): void => {
    stream.off('data', onData).off('end', onEnd).off('close', onClose);
    done(result);
  };
  const onData = (chunk: Buffer): void => {
    if (body.hasRoomFor(chunk)) return onGrow(body.append(chunk));
    stream.pause();
    finish('too large');
  };
  const onEnd = (): void => finish({ bytes: body.bytes });
  const onClose = (): void => finish('broken off');
  stream.on('data', onData).on('end', onEnd).on('close', onClose);
}

/** Pipelined requests of one connection. One more is refused. */
const MAX_PENDING = 64;
/** Memory of an open request beside its headers and its body, about. */
const REQUEST_BYTES = 4_096;
/** Memory of the headers of an answer, about. */
const HEADERS_BYTES = 256;
const NO_BODY = Buffer.alloc(0);
/** What a Host field may have in it, roughly (RFC 9112 §3.2). */
const HOST = /^[^\s/?#@]*$/;

/** Speaks HTTP/1.1 on connections that are passed to it. It does not listen itself. */
export class Http1Server {
  private readonly connections = new WeakMap<object, Http1Connection>();
  private readonly server: Server;

  constructor() {
    const take: RequestListener = (request, response) => {
      const { socket } = request;
      // Node goes on with what it has read when the connection is closed.
      if (!socket.destroyed) this.connections.get(socket)?.take(request, response);
    };
    // Two Host fields are joined by a comma and a blank, which HOST does not allow.
    const options = { maxHeaderSize: MAX_HEADER_BYTES, joinDuplicateHeaders: true };
    this.server = createServer(options, take);
    // Node would answer an unknown expectation by itself, and nothing would count that.
    this.server.on('checkExpectation', take);
    // The connection has its own idle limit.
    this.server.keepAliveTimeout = 0;
    // A client that sends no more still reads. Node has no type for this.
    Object.assign(this.server, { httpAllowHalfOpen: true });
  }

  speak(socket: TLSSocket, connection: Http1Connection): void {
    this.connections.set(socket, connection);
    this.server.emit('connection', socket);
  }
}

/** One connection of a client without HTTP/2. */
export class Http1Connection {
  private pending = 0;
  private isEnding = false;
  private held = 0;

  constructor(
    private readonly https: DohConnection,
    server: Http1Server,
  ) {
    server.speak(https.socket, this);
  }

  drain(): void {
    this.isEnding = true;
    if (this.pending === 0) this.https.socket.end();
  }

  /** The socket is closed; so are the requests. */
  close(): void {
    this.isEnding = true;
  }

  calm(): void {
    this.https.socket.destroy();
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    this.pending++;
    const reply = new Http1Reply(this.https, this, request, response);
    const deadline = setTimeout(() => this.https.socket.destroy(), REQUEST_MS);
    response.once('close', () => {
      clearTimeout(deadline);
      reply.release();
      this.onClosed();
    });
    reply.hold(REQUEST_BYTES + headerBytes(request));
    const { method = '', url = '', headers } = request;
    // The absolute form (RFC 9112 §3.2.2). Any host is meant, as in the origin form.
    const target = url.replace(/^https?:\/\/[^/?]+/i, '');
    const contentType = headers['content-type'] ?? '';
    const wanted = HOST.test(headers.host ?? '')
      ? readRequest({ method, target, contentType })
      : { status: 400 };
    if (this.pending > MAX_PENDING) reply.drop(DropReason.limited);
    else if ('status' in wanted) reply.fail(wanted.status);
    else if ('query' in wanted) this.https.handle(wanted.query, reply);
    else this.handleBody(request, reply);
  }

  hold(bytes: number): void {
    this.held += bytes;
    this.https.hold(this.held);
  }

  private handleBody(request: IncomingMessage, reply: Http1Reply): void {
    const onBody = (body: Body): void => {
      if (body === 'too large') reply.fail(413);
      else if (body !== 'broken off') this.https.handle(body.bytes, reply);
    };
    readBody(request, onBody, (bytes) => reply.hold(bytes));
  }

  private onClosed(): void {
    this.pending--;
    if (this.isEnding && this.pending === 0) this.https.socket.end();
  }
}

class Http1Reply extends DohReply {
  /** Bytes of memory that the request and its answer hold. */
  private held = 0;

  constructor(
    private readonly https: DohConnection,
    private readonly connection: Http1Connection,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    super(https.counters);
  }

  /** This many bytes more are held. This may close the connection. */
  hold(bytes: number): void {
    this.held += bytes;
    this.connection.hold(bytes);
  }

  /** Nothing is held any more. */
  release(): void {
    this.hold(-this.held);
  }

  fail(status: number): void {
    this.send(status, errorHeaders(status), NO_BODY);
  }

  protected respond(answer: Uint8Array, maxAgeSeconds: number): void {
    this.send(200, answerHeaders(answer.length, maxAgeSeconds), Buffer.from(answer));
  }

  /** A client that has gone is no error. */
  private send(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    const { response, request, https } = this;
    if (!response.destroyed) {
      // An unread body would delay the next request of this connection.
      const isLast = hasBody(request) && !request.complete;
      response.writeHead(status, isLast ? { ...headers, connection: 'close' } : headers);
      response.end(body);
      this.hold(body.length + HEADERS_BYTES);
    }
    https.onAnswer(status);
  }
}

function headerBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}

/** RFC 9112 §6. */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
