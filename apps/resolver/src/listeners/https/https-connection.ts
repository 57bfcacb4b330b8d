import type { ClientAddress, Connection } from '@weir/clients';
import { freshnessSeconds, MAX_MESSAGE_BYTES, parseResponse, Response } from '@weir/dns-wire';
import { createServer, type Server } from 'node:http';
import { constants, performServerHandshake, type ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { QueryCounters } from '../../metrics/query-counters.js';
import { DropReason } from '../../query/drop-reason.js';
import {
  type Exchange,
  type ReplyPath,
  type QueryHandler,
  Transport,
} from '../../query/exchange.js';
import type { UnreadAccount, UnreadBytes } from '../unread-bytes.js';
import { MAX_QUERY_BYTES, readRequest, answerHeaders, errorHeaders } from './doh-request.js';
import { Http2Call, type HttpCall, MAX_HEADER_BYTES, Http1Call } from './http-call.js';
import { type Body, readBody } from './read-body.js';

/** Speaks HTTP/1.1 on connections that are passed to it. It does not listen itself. */
export class Http1Server {
  private readonly connections = new WeakMap<object, HttpsConnection>();
  private readonly server: Server;

  constructor() {
    this.server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
      const { socket } = request;
      // Node goes on with what it has read when the connection is closed.
      if (!socket.destroyed) this.connections.get(socket)?.take(new Http1Call(request, response));
    });
    // The connection has its own idle limit.
    this.server.keepAliveTimeout = 0;
  }

  readonly speak = (socket: TLSSocket, connection: HttpsConnection): void => {
    this.connections.set(socket, connection);
    this.server.emit('connection', socket);
  };
}

/** In one turn of the event loop. */
const MAX_GLITCHES = 100;

/**
 * Limits the glitches of all connections together: requests that their client resets (CVE-2023-44487), or that are
 * refused. Each costs as much time as a query, and hundreds come in one TLS record. Node's own limit of resets ends a
 * session only when all that was read at once has been handled.
 */
export class GlitchLimit {
  private left = MAX_GLITCHES;
  private turn: NodeJS.Immediate | undefined;

  /** Counts one. @returns whether they are too many in this turn */
  isExceeded(): boolean {
    this.turn ??= setImmediate(() => {
      this.turn = undefined;
      this.left = MAX_GLITCHES;
    });
    return --this.left < 0;
  }
}

const NO_BODY = Buffer.alloc(0);
/** Memory of the headers of an answer, about. */
const HEADERS_BYTES = 256;
/** Used to read the TTLs of an answer; one answer at a time. */
const response = new Response();

/** HTTP statuses of queries without an answer. Any other reason is an error of the server. */
const STATUSES: Partial<Record<DropReason, number>> = {
  [DropReason.malformed]: 400,
  [DropReason.limited]: 429,
};

/** The way back of one query over HTTPS. DNS errors are normal HTTP answers (RFC 8484 §4.2.1). */
class DohExchange implements ReplyPath {
  readonly transport = Transport.https;
  /** Bytes of memory that the request and its answer hold. */
  private held = 0;

  /**
   * @param account that of the connection
   * @param onAnswer called with the HTTP status when the request is answered
   */
  constructor(
    private readonly call: HttpCall,
    private readonly counters: QueryCounters,
    private readonly account: UnreadAccount,
    private readonly onAnswer: (status: number) => void,
  ) {}

  /** So many bytes more are held. This may close the connection. */
  hold(bytes: number): void {
    this.held += bytes;
    this.account.set(this.account.bytes + bytes);
  }

  /** Nothing is held any more. */
  release(): void {
    this.account.set(this.account.bytes - this.held);
    this.held = 0;
  }

  maxAnswerBytes(): number {
    return MAX_MESSAGE_BYTES;
  }

  keepaliveUnits(): number {
    return -1;
  }

  reply(_exchange: Exchange, answer: Uint8Array, length: number): void {
    const body = Buffer.from(answer.subarray(0, length));
    const maxAge = parseResponse(body, length, response) ? freshnessSeconds(response) : 0;
    this.respond(200, answerHeaders(length, maxAge), body);
  }

  drop(reason: DropReason): void {
    this.counters.drop(reason);
    this.fail(STATUSES[reason] ?? 500);
  }

  fail(status: number): void {
    this.respond(status, errorHeaders(status), NO_BODY);
  }

  private respond(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.call.respond(status, headers, body);
    this.hold(body.length + HEADERS_BYTES);
    this.onAnswer(status);
  }
}

/** Open requests of one connection. One more is refused. */
const MAX_PENDING = 64;
/** Memory of an open request beside its headers and its body, about. */
const REQUEST_BYTES = 4_096;
/** From the headers of a request until its answer has left. */
const REQUEST_MS = 10_000;

const HTTP2_OPTIONS = {
  maxSessionMemory: 2,
  maxHeaderListPairs: 64,
  // Node's own limits (1,000, then 33 a second) let one client delay the answers of others (CVE-2023-44487).
  streamResetBurst: 100,
  streamResetRate: 10,
  settings: {
    enablePush: false,
    maxConcurrentStreams: MAX_PENDING,
    maxHeaderListSize: MAX_HEADER_BYTES,
  },
};

export interface HttpsConnectionOptions {
  readonly socket: TLSSocket;
  readonly client: ClientAddress;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  /** Shared by the connections of a listener: a query is handled or copied before the next one is read. */
  readonly exchange: Exchange;
  /** Shared with the connections of all listeners. */
  readonly unread: UnreadBytes;
  /** Shared with all other connections. A connection that exceeds it is closed. */
  readonly glitches: GlitchLimit;
  readonly nowMs: () => number;
  /** Takes over a connection that speaks HTTP/1.1, and passes its requests to `take`. */
  readonly speakHttp1: (socket: TLSSocket, connection: HttpsConnection) => void;
}

/** One connection of DNS over HTTPS (RFC 8484): HTTP/2, or HTTP/1.1 for clients without HTTP/2. */
export class HttpsConnection implements Connection {
  /** Time of the last complete query or answer. */
  lastActiveMs: number;
  private session: ServerHttp2Session | null = null;
  private pending = 0;
  private isEnding = false;
  private readonly account: UnreadAccount;

  constructor(private readonly options: HttpsConnectionOptions) {
    const { socket, nowMs } = options;
    this.lastActiveMs = nowMs();
    this.account = options.unread.open(this);
    socket.once('close', () => {
      this.account.close();
    });
    // The client has reset the connection; 'close' follows.
    socket.on('error', () => socket.destroy());
    socket.once('secure', () => {
      this.onSecure();
    });
  }

  drain(): void {
    this.isEnding = true;
    if (this.session !== null) this.session.close();
    else if (this.pending === 0) this.options.socket.end();
  }

  destroy(): void {
    this.options.socket.destroy();
  }

  /** Handles one request. */
  take(call: HttpCall): void {
    this.pending++;
    const { counters } = this.options;
    const reply = new DohExchange(call, counters, this.account, this.onAnswer);
    const deadline = setTimeout(() => {
      call.abort();
    }, REQUEST_MS);
    call.onClose((isReset) => {
      clearTimeout(deadline);
      reply.release();
      if (isReset) this.onGlitch();
      this.onRequestClosed();
    });
    reply.hold(REQUEST_BYTES + call.headerBytes);
    const request = readRequest(call);
    if (this.pending > MAX_PENDING) reply.drop(DropReason.limited);
    else if ('status' in request) reply.fail(request.status);
    else if ('query' in request) this.handle(request.query, reply);
    else this.handleBody(call, reply);
  }

  private onSecure(): void {
    const { socket, speakHttp1 } = this.options;
    if (socket.alpnProtocol !== 'h2') return speakHttp1(socket, this);
    // Node would wait for the end of a client handshake. This tells it that the handshake is done.
    Object.assign(socket, { secureConnecting: false });
    // Node would go on waiting for the rest of the requests.
    socket.once('end', () => socket.destroy());
    const session = performServerHandshake(socket, HTTP2_OPTIONS);
    session.on('error', () => socket.destroy());
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      // The client has reset this request only.
      stream.on('error', () => stream.destroy());
      this.take(new Http2Call(stream, headers, rawHeaders));
    });
    this.session = session;
    if (this.isEnding) session.close();
  }

  private handleBody(call: HttpCall, reply: DohExchange): void {
    const onBody = (body: Body): void => {
      if (body === 'too large') reply.fail(413);
      else if (body !== 'broken off') this.handle(body.bytes, reply);
    };
    readBody(call.body, MAX_QUERY_BYTES, onBody, (bytes) => {
      reply.hold(bytes);
    });
  }

  private handle(query: Buffer, reply: DohExchange): void {
    const { exchange, client, handler, nowMs } = this.options;
    this.lastActiveMs = nowMs();
    exchange.client.copyFrom(client);
    exchange.bytes = query;
    exchange.length = query.length;
    exchange.replyPath = reply;
    handler.handle(exchange);
  }

  private readonly onAnswer = (status: number): void => {
    this.lastActiveMs = this.options.nowMs();
    if (status >= 400) this.onGlitch();
  };

  /** A request was reset or refused. */
  private onGlitch(): void {
    const { socket, glitches, counters } = this.options;
    // A connection that is closed ends all of its requests.
    if (socket.destroyed || this.session?.destroyed || !glitches.isExceeded()) return;
    counters.drop(DropReason.limited);
    if (this.session === null) return void socket.destroy();
    this.session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // Node would handle the rest of what it has read if only the socket were destroyed.
    this.session.destroy();
  }

  private onRequestClosed(): void {
    this.pending--;
    const isOver = this.isEnding && this.pending === 0 && this.session === null;
    if (isOver) this.options.socket.end();
  }
}
