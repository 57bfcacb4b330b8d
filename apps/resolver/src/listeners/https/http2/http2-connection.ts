import type { ClientAddress } from '@weir/clients';
import type { Input, InputTurns } from '../../input-turns.js';
import { TickWriter } from '../../tick-writer.js';
import { type DohConnection, MAX_HEADER_BYTES, readRequest, REQUEST_MS } from '../doh.js';
import {
  FrameReader,
  FrameWriter,
  ErrorCode,
  Flag,
  FrameType,
  INITIAL_WINDOW,
  MAX_FRAME_BYTES,
  MAX_PEER_FRAME_BYTES,
  MAX_WINDOW,
  Setting,
  SETTING_BYTES,
} from './frames.js';
import { HpackDecoder, MAX_BLOCK_BYTES, MAX_TABLE_BYTES } from './hpack.js';
import { Http2Stream, type SendAnswer } from './http2-stream.js';
import { RequestFields } from './request-fields.js';

/** Open requests of one connection; one more is refused. RFC 9113 §6.5.2 recommends at least so many. */
const MAX_STREAMS = 100;
/** So many first requests may be too many without a fault of the client: it may not know the limit yet. */
const MAX_EARLY_REQUESTS = 1_000;
/** Memory of an open request beside its headers, its body and its answer, about. */
const STREAM_BYTES = 1_024;
const MAX_BLOCK_FRAMES = 8;
/** A refusal waits so long for the body: some clients send it only when they are asked for it (RFC 9110 §10.1.1). */
const REFUSAL_MS = 1_000;
/** Bytes of bodies that are read before the client is told that it may send this many more. */
const WINDOW_STEP = INITIAL_WINDOW >> 1;
/** Settings of one frame. There are not many more in the registry. */
const MAX_SETTINGS = 32;
const PING_BYTES = 8;
const EMPTY: Buffer = Buffer.alloc(0);
/** Those of one request at a time. */
const fields = new RequestFields();

/** A header block that goes on in CONTINUATION frames. */
interface OpenBlock {
  readonly stream: number;
  readonly flags: number;
  bytes: Buffer;
  frames: number;
}

/**
 * The server's side of one HTTP/2 connection (RFC 9113), as far as DNS over HTTPS needs it: every request is small, and
 * every answer is written at once, its DATA right behind its HEADERS.
 */
export class Http2Connection implements Input {
  readonly client: ClientAddress;
  private isQueued = false;
  private hasSettings = false;
  /** The client has acknowledged our settings. */
  private knowsSettings = false;
  /** No new requests are taken. */
  private isEnding = false;
  private isOver = false;
  /** The client sends no more. It may read on. */
  private isInputOver = false;
  private readonly decoder = new HpackDecoder();
  private readonly reader = new FrameReader();
  private readonly writer: TickWriter;
  private readonly frames: FrameWriter;
  private readonly streams = new Map<number, Http2Stream>();
  private lastStream = 0;
  private openBlock: OpenBlock | null = null;
  /** What may be sent, and of a new stream. */
  private window = INITIAL_WINDOW;
  private streamWindow = INITIAL_WINDOW;
  private maxFrameBytes = MAX_FRAME_BYTES;
  /** Bytes of bodies that the client was not told of. */
  private received = 0;
  private held = 0;

  constructor(
    private readonly https: DohConnection,
    private readonly turns: InputTurns,
  ) {
    this.client = https.client;
    this.writer = new TickWriter(https.socket, this.onFlush);
    this.frames = new FrameWriter(this.writer);
    this.frames.settings([
      [Setting.maxConcurrentStreams, MAX_STREAMS],
      [Setting.maxHeaderListSize, MAX_HEADER_BYTES],
    ]);
    https.socket.on('data', (chunk: Buffer) => this.onData(chunk));
    https.socket.once('end', () => {
      this.isInputOver = true;
      this.settle();
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
    this.frames.goaway(this.lastStream, ErrorCode.noError);
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
  private readonly respond: SendAnswer = (stream, status, headers, body) => {
    if (stream.isClosed) return;
    const isEmpty = body.length === 0;
    this.frames.headers(stream.id, status, headers, isEmpty);
    if (isEmpty) this.finish(stream);
    else this.sendBody(stream, body);
    this.https.onAnswer(status);
  };

  private onData(chunk: Buffer): void {
    if (this.isOver) return;
    this.reader.push(chunk);
    if (this.isQueued) return;
    while (!this.isQueued && this.hasFrame()) {
      if (this.turns.take(this)) this.readNext();
      else this.isQueued = true;
    }
    this.settle();
  }

  private hasFrame(): boolean {
    return !this.isOver && !this.https.socket.destroyed && this.reader.hasNext();
  }

  /** Reads frames until one of them was work. Those that begin a request are followed by the rest of it. */
  private readNext(): void {
    while (this.hasFrame() && !this.readFrame());
  }

  /** @returns whether it was work */
  private readFrame(): boolean {
    const error = this.reader.next();
    if (error !== null) return this.fail(error);
    const { openBlock } = this;
    const { type, stream } = this.reader;
    const isRest = openBlock !== null && openBlock.stream === stream;
    if ((type === FrameType.continuation) !== isRest) return this.fail(ErrorCode.protocol);
    if (openBlock !== null && !isRest) return this.fail(ErrorCode.protocol);
    if (!this.hasSettings && type !== FrameType.settings) return this.fail(ErrorCode.protocol);
    return this.readPayload();
  }

  private readPayload(): boolean {
    switch (this.reader.type) {
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
        if (this.reader.stream !== 0) return this.fail(ErrorCode.protocol);
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
    if (this.reader.stream === 0) this.fail(ErrorCode.protocol);
    else if (this.reader.length !== length) this.fail(ErrorCode.frameSize);
    return !this.isOver;
  }

  private readHeaders(): boolean {
    const { reader } = this;
    const { stream, flags } = reader;
    if (stream % 2 === 0 || !reader.unpad()) return this.fail(ErrorCode.protocol);
    if (reader.has(Flag.priority)) reader.start += 5;
    if (reader.length < 0) return this.fail(ErrorCode.frameSize);
    if (reader.has(Flag.endHeaders)) return this.readBlock(reader.payload);
    this.openBlock = { stream, flags, bytes: Buffer.from(reader.payload), frames: 1 };
    return reader.length > MAX_BLOCK_BYTES && this.fail(ErrorCode.enhanceYourCalm);
  }

  private readContinuation(): boolean {
    const { reader } = this;
    const open = this.openBlock as OpenBlock;
    open.bytes = Buffer.concat([open.bytes, reader.payload]);
    open.frames++;
    const isTooLarge = open.bytes.length > MAX_BLOCK_BYTES || open.frames > MAX_BLOCK_FRAMES;
    if (isTooLarge) return this.fail(ErrorCode.enhanceYourCalm);
    if (!reader.has(Flag.endHeaders)) return false;
    this.openBlock = null;
    // Those of HEADERS say whether the request is over.
    reader.flags = open.flags;
    return this.readBlock(open.bytes);
  }

  private readBlock(bytes: Buffer): boolean {
    if (bytes.length > MAX_BLOCK_BYTES) return this.fail(ErrorCode.enhanceYourCalm);
    fields.clear();
    if (!this.decoder.decode(bytes, fields)) return this.fail(ErrorCode.compression);
    const { stream: id } = this.reader;
    const isEnd = this.reader.has(Flag.endStream);
    const known = this.streams.get(id);
    if (known !== undefined) return this.readTrailers(known, isEnd);
    // It was reset or answered while these trailers were on their way.
    if (id <= this.lastStream) return !fields.isRequest || this.fail(ErrorCode.protocol);
    if (this.isEnding) return true;
    this.lastStream = id;
    if (this.streams.size >= MAX_STREAMS) return this.refuseExcess(id);
    if (fields.isTooLarge) return this.refuse(id, ErrorCode.enhanceYourCalm);
    const isWhole = !isEnd || fields.contentLength <= 0;
    if (!fields.isRequest || !isWhole) return this.refuse(id, ErrorCode.protocol);
    return this.open(id, isEnd);
  }

  private readTrailers(stream: Http2Stream, isEnd: boolean): boolean {
    if (stream.isComplete) return this.fail(ErrorCode.streamClosed);
    if (isEnd && fields.areTrailers) this.takeBody(stream, EMPTY, true);
    else this.reset(stream, ErrorCode.protocol);
    return true;
  }

  private open(id: number, isEnd: boolean): boolean {
    const { https } = this;
    const stream = new Http2Stream(id, this.streamWindow, https.counters, this.respond);
    this.streams.set(id, stream);
    this.hold(stream, STREAM_BYTES + fields.bytes);
    stream.contentLength = fields.contentLength;
    const request = readRequest(fields);
    if ('status' in request) {
      stream.isComplete = isEnd;
      if (isEnd) stream.fail(request.status);
      else stream.refusal = request.status;
    } else if ('query' in request) {
      stream.isComplete = isEnd;
      stream.isAsked = true;
      https.handle(request.query, stream);
    } else if (isEnd) this.takeBody(stream, EMPTY, true);
    if (stream.isClosed) return true;
    const isWaiting = fields.expectsContinue && !isEnd && !stream.isAsked;
    if (isWaiting) this.frames.headers(id, 100, {}, false);
    stream.deadline =
      stream.refusal > 0
        ? setTimeout(() => stream.fail(stream.refusal), REFUSAL_MS)
        : setTimeout(() => this.reset(stream, ErrorCode.cancel), REQUEST_MS);
    return isEnd || stream.isAsked;
  }

  /**
   * Whether a frame belongs to a stream that was not opened: a later request, or one of ours. Requests that come after
   * GOAWAY are not remembered.
   */
  private get isEarly(): boolean {
    const { stream } = this.reader;
    return (stream > this.lastStream && !this.isEnding) || (stream > 0 && stream % 2 === 0);
  }

  private readBody(): boolean {
    const { reader } = this;
    if (reader.stream === 0) return this.fail(ErrorCode.protocol);
    this.received += reader.length;
    if (!reader.unpad()) return this.fail(ErrorCode.protocol);
    if (this.received >= WINDOW_STEP) {
      this.frames.windowUpdate(this.received);
      this.received = 0;
    }
    const stream = this.streams.get(reader.stream);
    if (stream === undefined) return !this.isEarly || this.fail(ErrorCode.protocol);
    if (stream.isComplete) {
      this.reset(stream, ErrorCode.streamClosed);
      return true;
    }
    const isEnd = reader.has(Flag.endStream);
    this.takeBody(stream, reader.payload, isEnd);
    return isEnd;
  }

  private takeBody(stream: Http2Stream, bytes: Buffer, isEnd: boolean): void {
    stream.isComplete = isEnd;
    if (stream.refusal > 0) return stream.fail(stream.refusal);
    if (stream.isAsked) return;
    const { body, contentLength } = stream;
    const length = body.length + bytes.length;
    if (contentLength >= 0 && (isEnd ? length !== contentLength : length > contentLength)) {
      return this.reset(stream, ErrorCode.protocol);
    }
    if (!body.hasRoomFor(bytes)) return stream.fail(413);
    if (isEnd && body.length === 0) return this.https.handle(bytes, stream);
    this.hold(stream, body.append(bytes));
    if (isEnd) this.https.handle(body.bytes, stream);
  }

  private readReset(): boolean {
    if (!this.checkStream(4)) return true;
    if (this.isEarly) return this.fail(ErrorCode.protocol);
    const stream = this.streams.get(this.reader.stream);
    if (stream !== undefined) this.forget(stream);
    this.https.onGlitch();
    return true;
  }

  private readSettings(): boolean {
    const { length, stream, input, start, end } = this.reader;
    if (stream !== 0) return this.fail(ErrorCode.protocol);
    const isAck = this.reader.has(Flag.ack);
    if (isAck ? length > 0 : length % SETTING_BYTES > 0) return this.fail(ErrorCode.frameSize);
    if (isAck) {
      this.knowsSettings = true;
      return this.hasSettings || this.fail(ErrorCode.protocol);
    }
    if (length > MAX_SETTINGS * SETTING_BYTES) return this.fail(ErrorCode.enhanceYourCalm);
    for (let at = start; at < end && !this.isOver; at += SETTING_BYTES) {
      this.set(input.readUInt16BE(at), input.readUInt32BE(at + 2));
    }
    this.hasSettings = true;
    this.frames.acknowledgeSettings();
    this.sendUnsent();
    return true;
  }

  private set(setting: number, value: number): void {
    if (setting === Setting.headerTableSize && value < MAX_TABLE_BYTES) {
      this.frames.saysNoTable = true;
    }
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
    const { stream, length, input, start, end } = this.reader;
    if (stream !== 0) return this.fail(ErrorCode.protocol);
    if (length !== PING_BYTES) return this.fail(ErrorCode.frameSize);
    if (!this.reader.has(Flag.ack)) this.frames.acknowledgePing(input, start, end);
    return true;
  }

  private readWindowUpdate(): boolean {
    const { reader } = this;
    if (reader.length !== 4) return this.fail(ErrorCode.frameSize);
    const increment = reader.uint31;
    if (this.isEarly) return this.fail(ErrorCode.protocol);
    const stream = this.streams.get(reader.stream);
    if (reader.stream === 0) {
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
      this.frames.data(stream.id, body, sent, sent + length, isEnd);
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
    if (!stream.isComplete) this.frames.reset(stream.id, ErrorCode.noError);
    this.forget(stream);
  }

  private reset(stream: Http2Stream, code: ErrorCode): void {
    this.forget(stream);
    this.refuse(stream.id, code);
  }

  /** It does not count as a glitch while the client may not know the limit. @returns that this was work */
  private refuseExcess(id: number): boolean {
    const isEarly = !this.knowsSettings && id < 2 * MAX_EARLY_REQUESTS;
    if (!isEarly) return this.refuse(id, ErrorCode.refusedStream);
    this.frames.reset(id, ErrorCode.refusedStream);
    return true;
  }

  /** @returns that this was work */
  private refuse(id: number, code: ErrorCode): boolean {
    this.frames.reset(id, code);
    this.https.onGlitch();
    return true;
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

  /** Ends the connection for an error of the client (RFC 9113 §5.4.1). @returns that this was work */
  private fail(code: ErrorCode): true {
    if (this.isOver) return true;
    this.frames.goaway(this.lastStream, code);
    this.writer.flush();
    this.close();
    this.reader.clear();
    this.https.socket.destroySoon();
    return true;
  }

  /** Keeps what is not read. */
  private settle(): void {
    const { socket } = this.https;
    if (!this.isQueued) this.reader.compact();
    if (this.isQueued) socket.pause();
    else if (socket.isPaused()) socket.resume();
    if (this.isInputOver && !this.isQueued) this.endInput();
    this.writer.flushLater();
  }

  /** The rest of unfinished requests cannot come. The connection ends when the others are answered. */
  private endInput(): void {
    this.isEnding = true;
    for (const stream of this.streams.values()) {
      if (!stream.isComplete && !stream.isAsked) this.forget(stream);
    }
  }

  /** Bytes of a frame, and of a header block, whose rest has not come. */
  private get unfinishedBytes(): number {
    return this.reader.input.length + (this.openBlock?.bytes.length ?? 0);
  }

  private readonly onFlush = (): void => {
    const { socket } = this.https;
    if (this.isOver) return;
    this.https.hold(this.held + this.unfinishedBytes + socket.writableLength);
    if (this.isEnding && this.streams.size === 0 && socket.writable) this.writer.end();
  };
}
