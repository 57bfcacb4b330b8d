import type { ClientAddress } from '@weir/clients';
import type { Input, InputTurns } from '../../input-turns.js';
import { TickWriter } from '../../tick-writer.js';
import { type DohConnection, DohReply } from '../doh-reply.js';
import {
  answerHeaders,
  errorHeaders,
  MAX_HEADER_BYTES,
  MAX_QUERY_BYTES,
  readRequest,
} from '../doh-request.js';
import {
  ErrorCode,
  Flag,
  FRAME_HEAD_BYTES,
  FrameType,
  INITIAL_WINDOW,
  MAX_FRAME_BYTES,
  MAX_PEER_FRAME_BYTES,
  MAX_WINDOW,
  PREFACE,
  Setting,
} from './frames.js';
import { encodeHpack, HpackDecoder, MAX_BLOCK_BYTES, MAX_TABLE_BYTES, NO_TABLE } from './hpack.js';
import { RequestFields } from './request-fields.js';

/** Open requests of one connection. One more is refused. */
const MAX_STREAMS = 64;
/** From the headers of a request until its answer has left. */
const REQUEST_MS = 10_000;
/** Memory of an open request beside its headers, its body and its answer, about. */
const STREAM_BYTES = 1_024;
/** Frames of one header block. */
const MAX_BLOCK_FRAMES = 8;
/** Bytes of bodies that are read before the client is told that it may send so many more. */
const WINDOW_STEP = INITIAL_WINDOW >> 1;
/** Room for a body that comes in pieces. A larger one gets twice the room, again and again. */
const FIRST_BODY_BYTES = 512;
const STREAM_MASK = 2 ** 31 - 1;
const SETTING_BYTES = 6;
/** Settings of one frame. There are not many more in the registry. */
const MAX_SETTINGS = 32;
const EMPTY: Buffer = Buffer.alloc(0);
/** Those of one request at a time. */
const fields = new RequestFields();
/** The header block of one answer at a time. */
const block = Buffer.allocUnsafeSlow(256);
block[0] = NO_TABLE;

/** A header block that goes on in CONTINUATION frames. */
interface OpenBlock {
  readonly stream: number;
  readonly flags: number;
  bytes: Buffer;
  frames: number;
}

/** One request and the way back for its answer. */
class Http2Stream extends DohReply {
  /** What may be sent. */
  window: number;
  /** The client has sent all of its request. */
  isComplete = false;
  /** The query was in the URI. A body means nothing. */
  isAsked = false;
  isClosed = false;
  /** Of the body, as the client has announced it. −1: it has not. */
  contentLength = -1;
  body = EMPTY;
  bodyBytes = 0;
  /** What of the answer had no room in the windows. */
  unsent = EMPTY;
  /** Bytes of memory that this request holds. */
  held = 0;
  deadline: NodeJS.Timeout | undefined;

  constructor(
    readonly id: number,
    private readonly connection: Http2Connection,
    https: DohConnection,
    window: number,
  ) {
    super(https.counters);
    this.window = window;
  }

  fail(status: number): void {
    this.connection.respond(this, status, errorHeaders(status), EMPTY);
  }

  protected respond(answer: Uint8Array, maxAgeSeconds: number): void {
    this.connection.respond(this, 200, answerHeaders(answer.length, maxAgeSeconds), answer);
  }
}

/**
 * The server's side of one HTTP/2 connection (RFC 9113), as far as DNS over HTTPS needs it: every request is small, and
 * every answer is written at once, its DATA right behind its HEADERS.
 */
export class Http2Connection implements Input {
  readonly client: ClientAddress;
  private input = EMPTY;
  private at = 0;
  private isQueued = false;
  private hasPreface = false;
  private hasSettings = false;
  /** No new requests are taken. */
  private isEnding = false;
  private isOver = false;
  private readonly decoder = new HpackDecoder();
  private readonly writer: TickWriter;
  private readonly streams = new Map<number, Http2Stream>();
  private lastStream = 0;
  private openBlock: OpenBlock | null = null;
  /** What may be sent, and of a new stream. */
  private window = INITIAL_WINDOW;
  private streamWindow = INITIAL_WINDOW;
  private maxFrameBytes = MAX_FRAME_BYTES;
  /** The next header block must say that there is no table: the client has less than the default (RFC 9113 §4.3.1). */
  private saysNoTable = false;
  /** Bytes of bodies that the client was not told of. */
  private received = 0;
  private held = 0;
  // The frame that is read.
  private type = 0;
  private flags = 0;
  private stream = 0;
  private start = 0;
  private end = 0;

  constructor(
    private readonly https: DohConnection,
    private readonly turns: InputTurns,
  ) {
    this.client = https.client;
    this.writer = new TickWriter(https.socket, this.onFlush);
    const { writer } = this;
    this.writeHead(2 * SETTING_BYTES, FrameType.settings, 0, 0);
    writer.uint16(Setting.maxConcurrentStreams);
    writer.uint32(MAX_STREAMS);
    writer.uint16(Setting.maxHeaderListSize);
    writer.uint32(MAX_HEADER_BYTES);
    https.socket.on('data', (chunk: Buffer) => {
      this.onData(chunk);
    });
  }

  handleNext(): boolean {
    this.readNext();
    this.isQueued = this.hasFrame();
    this.settle();
    return this.isQueued;
  }

  /** Takes no more requests. The connection ends when the open ones are answered. */
  drain(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.goaway(ErrorCode.noError);
  }

  /** The socket is closed. */
  close(): void {
    this.isOver = true;
    for (const stream of this.streams.values()) this.forget(stream);
  }

  /** Ends the connection: the client has sent too much without use. */
  calm(): void {
    this.fail(ErrorCode.enhanceYourCalm);
  }

  /** Answers a request, once. A client that has gone is no error. */
  respond(
    stream: Http2Stream,
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
  ): void {
    if (stream.isClosed) return;
    const isEmpty = body.length === 0;
    const start = this.saysNoTable ? 0 : 1;
    const end = encodeHpack(status, headers, block, 1);
    this.saysNoTable = false;
    const flags = isEmpty ? Flag.endHeaders | Flag.endStream : Flag.endHeaders;
    this.writeHead(end - start, FrameType.headers, flags, stream.id);
    this.writer.copy(block, start, end);
    if (isEmpty) this.finish(stream);
    else this.sendBody(stream, body);
    this.https.onAnswer(status);
  }

  private onData(chunk: Buffer): void {
    if (this.isOver) return;
    this.input = this.input.length === 0 ? chunk : Buffer.concat([this.input, chunk]);
    if (this.isQueued) return;
    while (!this.isQueued && this.hasFrame()) {
      if (this.turns.take(this)) this.readNext();
      else this.isQueued = true;
    }
    this.settle();
  }

  /** Whether a frame, or the preface, is complete or wrong. */
  private hasFrame(): boolean {
    if (this.isOver || this.https.socket.destroyed) return false;
    const bytes = this.input.length - this.at;
    if (!this.hasPreface) return bytes >= PREFACE.length;
    if (bytes < FRAME_HEAD_BYTES) return false;
    const length = this.input.readUIntBE(this.at, 3);
    return length > MAX_FRAME_BYTES || bytes >= FRAME_HEAD_BYTES + length;
  }

  /** Reads frames until one of them was work. Those that begin a request are followed by the rest of it. */
  private readNext(): void {
    while (this.hasFrame() && !this.readFrame());
  }

  /** @returns whether it was work */
  private readFrame(): boolean {
    if (!this.hasPreface) return this.readPreface();
    const { input, at } = this;
    const length = input.readUIntBE(at, 3);
    if (length > MAX_FRAME_BYTES) return this.fail(ErrorCode.frameSize);
    this.type = input[at + 3];
    this.flags = input[at + 4];
    this.stream = input.readUInt32BE(at + 5) & STREAM_MASK;
    this.start = at + FRAME_HEAD_BYTES;
    this.end = this.at = this.start + length;
    const { type, openBlock } = this;
    const isRest = openBlock !== null && openBlock.stream === this.stream;
    if ((type === FrameType.continuation) !== isRest) return this.fail(ErrorCode.protocol);
    if (openBlock !== null && !isRest) return this.fail(ErrorCode.protocol);
    if (!this.hasSettings && type !== FrameType.settings) return this.fail(ErrorCode.protocol);
    return this.readPayload();
  }

  private readPreface(): boolean {
    this.at = PREFACE.length;
    this.hasPreface = true;
    return PREFACE.equals(this.input.subarray(0, this.at)) || this.fail(ErrorCode.protocol);
  }

  private readPayload(): boolean {
    switch (this.type) {
      case FrameType.data:
        return this.readBody();
      case FrameType.headers:
        return this.readHeaders();
      case FrameType.continuation:
        return this.readContinuation();
      case FrameType.priority:
        this.checkStream(5);
        return true;
      case FrameType.rstStream:
        return this.readReset();
      case FrameType.settings:
        return this.readSettings();
      case FrameType.ping:
        return this.readPing();
      case FrameType.goaway:
        // The client asks nothing more of this connection.
        this.isEnding = true;
        return true;
      case FrameType.windowUpdate:
        return this.readWindowUpdate();
      case FrameType.pushPromise:
        return this.fail(ErrorCode.protocol);
      default:
        return true;
    }
  }

  /** Whether a frame belongs to a stream and has the length of its type. */
  private checkStream(length: number): boolean {
    if (this.stream === 0) this.fail(ErrorCode.protocol);
    else if (this.end - this.start !== length) this.fail(ErrorCode.frameSize);
    return !this.isOver;
  }

  /** Takes the padding off. */
  private unpad(): boolean {
    if ((this.flags & Flag.padded) === 0) return true;
    if (this.start === this.end) return false;
    const padding = this.input[this.start++];
    this.end -= padding;
    return this.end >= this.start;
  }

  private readHeaders(): boolean {
    const isOdd = this.stream % 2 === 1;
    if (!isOdd || !this.unpad()) return this.fail(ErrorCode.protocol);
    if ((this.flags & Flag.priority) !== 0) this.start += 5;
    if (this.start > this.end) return this.fail(ErrorCode.frameSize);
    const { stream, flags, start, end } = this;
    const bytes = this.input.subarray(start, end);
    if ((flags & Flag.endHeaders) !== 0) return this.readBlock(bytes);
    this.openBlock = { stream, flags, bytes: Buffer.from(bytes), frames: 1 };
    return bytes.length > MAX_BLOCK_BYTES && this.fail(ErrorCode.enhanceYourCalm);
  }

  private readContinuation(): boolean {
    const open = this.openBlock as OpenBlock;
    open.bytes = Buffer.concat([open.bytes, this.input.subarray(this.start, this.end)]);
    open.frames++;
    const isTooLarge = open.bytes.length > MAX_BLOCK_BYTES || open.frames > MAX_BLOCK_FRAMES;
    if (isTooLarge) return this.fail(ErrorCode.enhanceYourCalm);
    if ((this.flags & Flag.endHeaders) === 0) return false;
    this.openBlock = null;
    this.flags = open.flags;
    return this.readBlock(open.bytes);
  }

  private readBlock(bytes: Buffer): boolean {
    if (bytes.length > MAX_BLOCK_BYTES) return this.fail(ErrorCode.enhanceYourCalm);
    fields.clear();
    if (!this.decoder.decode(bytes, fields)) return this.fail(ErrorCode.compression);
    const { stream: id } = this;
    const isEnd = (this.flags & Flag.endStream) !== 0;
    const known = this.streams.get(id);
    if (known !== undefined) return this.readTrailers(known, isEnd);
    // It was reset or answered while these trailers were on their way, or it comes after the end.
    if (id <= this.lastStream || this.isEnding) return true;
    this.lastStream = id;
    if (this.streams.size >= MAX_STREAMS) return this.refuse(id, ErrorCode.refusedStream);
    if (fields.isTooLarge) return this.refuse(id, ErrorCode.enhanceYourCalm);
    if (!fields.isRequest) return this.refuse(id, ErrorCode.protocol);
    return this.open(id, isEnd);
  }

  private readTrailers(stream: Http2Stream, isEnd: boolean): boolean {
    if (stream.isComplete) return this.fail(ErrorCode.streamClosed);
    if (!isEnd) this.reset(stream, ErrorCode.protocol);
    else this.takeBody(stream, EMPTY, true);
    return true;
  }

  private open(id: number, isEnd: boolean): boolean {
    const { https } = this;
    const stream = new Http2Stream(id, this, https, this.streamWindow);
    this.streams.set(id, stream);
    this.hold(stream, STREAM_BYTES + fields.bytes);
    stream.contentLength = fields.contentLength;
    const request = readRequest(fields);
    if ('status' in request) {
      stream.isComplete = isEnd;
      stream.fail(request.status);
    } else if ('query' in request) {
      stream.isComplete = isEnd;
      stream.isAsked = true;
      https.handle(request.query, stream);
    } else if (isEnd) this.takeBody(stream, EMPTY, true);
    if (stream.isClosed) return true;
    stream.deadline = setTimeout(() => {
      this.reset(stream, ErrorCode.cancel);
    }, REQUEST_MS);
    return isEnd || stream.isAsked;
  }

  /** Whether a frame belongs to a request that has not begun. Those that come after GOAWAY are not remembered. */
  private get isEarly(): boolean {
    return this.stream > this.lastStream && !this.isEnding;
  }

  private readBody(): boolean {
    if (this.stream === 0) return this.fail(ErrorCode.protocol);
    this.received += this.end - this.start;
    if (!this.unpad()) return this.fail(ErrorCode.protocol);
    if (this.received >= WINDOW_STEP) {
      this.writeHead(4, FrameType.windowUpdate, 0, 0);
      this.writer.uint32(this.received);
      this.received = 0;
    }
    const stream = this.streams.get(this.stream);
    if (stream === undefined) return !this.isEarly || this.fail(ErrorCode.protocol);
    if (stream.isComplete) this.reset(stream, ErrorCode.streamClosed);
    else {
      const isEnd = (this.flags & Flag.endStream) !== 0;
      this.takeBody(stream, this.input.subarray(this.start, this.end), isEnd);
      return isEnd;
    }
    return true;
  }

  private takeBody(stream: Http2Stream, bytes: Buffer, isEnd: boolean): void {
    stream.isComplete = isEnd;
    if (stream.isAsked) return;
    const { body, bodyBytes, contentLength } = stream;
    const length = bodyBytes + bytes.length;
    if (contentLength >= 0 && (isEnd ? length !== contentLength : length > contentLength)) {
      return this.reset(stream, ErrorCode.protocol);
    }
    if (length > MAX_QUERY_BYTES) return stream.fail(413);
    if (isEnd && bodyBytes === 0) return this.https.handle(bytes, stream);
    if (length > body.length) {
      const room = Math.min(MAX_QUERY_BYTES, Math.max(FIRST_BODY_BYTES, 2 * body.length, length));
      // Not of the pool, of which it would hold a whole slab.
      stream.body = Buffer.allocUnsafeSlow(room);
      body.copy(stream.body, 0, 0, bodyBytes);
      this.hold(stream, room - body.length);
    }
    bytes.copy(stream.body, bodyBytes);
    stream.bodyBytes = length;
    if (isEnd) this.https.handle(stream.body.subarray(0, length), stream);
  }

  private readReset(): boolean {
    if (!this.checkStream(4)) return true;
    if (this.isEarly) return this.fail(ErrorCode.protocol);
    const stream = this.streams.get(this.stream);
    if (stream !== undefined) this.forget(stream);
    this.https.onGlitch();
    return true;
  }

  private readSettings(): boolean {
    const length = this.end - this.start;
    if (this.stream !== 0) return this.fail(ErrorCode.protocol);
    const isAck = (this.flags & Flag.ack) !== 0;
    if (isAck ? length > 0 : length % SETTING_BYTES > 0) return this.fail(ErrorCode.frameSize);
    if (isAck) return this.hasSettings || this.fail(ErrorCode.protocol);
    if (length > MAX_SETTINGS * SETTING_BYTES) return this.fail(ErrorCode.enhanceYourCalm);
    for (let at = this.start; at < this.end && !this.isOver; at += SETTING_BYTES) {
      this.set(this.input.readUInt16BE(at), this.input.readUInt32BE(at + 2));
    }
    this.hasSettings = true;
    this.writeHead(0, FrameType.settings, Flag.ack, 0);
    this.sendUnsent();
    return true;
  }

  private set(setting: number, value: number): void {
    if (setting === Setting.headerTableSize && value < MAX_TABLE_BYTES) this.saysNoTable = true;
    if (setting === Setting.enablePush && value > 1) this.fail(ErrorCode.protocol);
    if (setting === Setting.maxFrameSize) {
      if (value < MAX_FRAME_BYTES || value > MAX_PEER_FRAME_BYTES) this.fail(ErrorCode.protocol);
      this.maxFrameBytes = value;
    }
    if (setting !== Setting.initialWindowSize) return;
    if (value > MAX_WINDOW) return void this.fail(ErrorCode.flowControl);
    for (const stream of this.streams.values()) {
      stream.window += value - this.streamWindow;
      if (stream.window > MAX_WINDOW) return void this.fail(ErrorCode.flowControl);
    }
    this.streamWindow = value;
  }

  private readPing(): boolean {
    if (this.stream !== 0) return this.fail(ErrorCode.protocol);
    if (this.end - this.start !== 8) return this.fail(ErrorCode.frameSize);
    if ((this.flags & Flag.ack) !== 0) return true;
    this.writeHead(8, FrameType.ping, Flag.ack, 0);
    this.writer.copy(this.input, this.start, this.end);
    return true;
  }

  private readWindowUpdate(): boolean {
    if (this.end - this.start !== 4) return this.fail(ErrorCode.frameSize);
    const increment = this.input.readUInt32BE(this.start) & STREAM_MASK;
    if (this.isEarly) return this.fail(ErrorCode.protocol);
    const stream = this.streams.get(this.stream);
    if (this.stream === 0) {
      this.window += increment;
      if (increment === 0) return this.fail(ErrorCode.protocol);
      if (this.window > MAX_WINDOW) return this.fail(ErrorCode.flowControl);
    } else if (stream !== undefined) {
      stream.window += increment;
      if (increment === 0) this.reset(stream, ErrorCode.protocol);
      else if (stream.window > MAX_WINDOW) this.reset(stream, ErrorCode.flowControl);
    }
    this.sendUnsent();
    return true;
  }

  private sendUnsent(): void {
    for (const stream of this.streams.values()) {
      if (this.window <= 0) return;
      if (stream.unsent.length > 0 && stream.window > 0) this.sendBody(stream, stream.unsent);
    }
  }

  private sendBody(stream: Http2Stream, body: Uint8Array): void {
    let sent = 0;
    for (;;) {
      const length = Math.min(body.length - sent, this.window, stream.window, this.maxFrameBytes);
      if (length <= 0) break;
      const isEnd = sent + length === body.length;
      this.writeHead(length, FrameType.data, isEnd ? Flag.endStream : 0, stream.id);
      this.writer.copy(body, sent, sent + length);
      sent += length;
      this.window -= length;
      stream.window -= length;
      if (isEnd) return this.finish(stream);
    }
    const unsent = Buffer.from(body.subarray(sent));
    this.hold(stream, unsent.length - stream.unsent.length);
    stream.unsent = unsent;
  }

  /** The whole answer is written. The rest of the request is not wanted (RFC 9113 §8.1). */
  private finish(stream: Http2Stream): void {
    if (!stream.isComplete) this.writeReset(stream.id, ErrorCode.noError);
    this.forget(stream);
  }

  private reset(stream: Http2Stream, code: ErrorCode): void {
    this.forget(stream);
    this.refuse(stream.id, code);
  }

  /** @returns that this was work */
  private refuse(id: number, code: ErrorCode): boolean {
    this.writeReset(id, code);
    this.https.onGlitch();
    return true;
  }

  /** Begins a frame. Its payload follows. */
  private writeHead(length: number, type: number, flags: number, stream: number): void {
    const { writer } = this;
    writer.reserve(FRAME_HEAD_BYTES + length);
    writer.uint24(length);
    writer.byte(type);
    writer.byte(flags);
    writer.uint32(stream);
  }

  private writeReset(id: number, code: ErrorCode): void {
    this.writeHead(4, FrameType.rstStream, 0, id);
    this.writer.uint32(code);
  }

  private forget(stream: Http2Stream): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    clearTimeout(stream.deadline);
    this.hold(stream, -stream.held);
    this.streams.delete(stream.id);
  }

  private hold(stream: Http2Stream, bytes: number): void {
    stream.held += bytes;
    this.held += bytes;
  }

  private goaway(code: ErrorCode): void {
    this.writeHead(8, FrameType.goaway, 0, 0);
    this.writer.uint32(this.lastStream);
    this.writer.uint32(code);
  }

  /** Ends the connection for an error of the client (RFC 9113 §5.4.1). @returns that this was work */
  private fail(code: ErrorCode): true {
    if (this.isOver) return true;
    this.goaway(code);
    this.writer.flush();
    this.close();
    this.input = EMPTY;
    this.https.socket.destroySoon();
    return true;
  }

  /** Keeps what is not read. */
  private settle(): void {
    const { socket } = this.https;
    if (this.at > 0 && !this.isQueued) {
      // A copy: the rest would hold all that was read from the socket.
      this.input = this.at < this.input.length ? Buffer.from(this.input.subarray(this.at)) : EMPTY;
      this.at = 0;
    }
    if (this.isQueued) socket.pause();
    else if (socket.isPaused()) socket.resume();
    this.writer.flushLater();
  }

  private readonly onFlush = (): void => {
    const { socket } = this.https;
    if (this.isOver) return;
    this.https.hold(this.held + socket.writableLength);
    if (this.isEnding && this.streams.size === 0 && socket.writable) this.writer.end();
  };
}
