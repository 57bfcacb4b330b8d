import type { TickWriter } from '../../tick-writer.js';
import { encodeHpack, NO_TABLE } from './hpack.js';

/** RFC 9113 §6. */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** A bit has one meaning for each type of frame. */
export const Flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** RFC 9113 §7. */
export const ErrorCode = {
  noError: 0,
  protocol: 1,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** RFC 9113 §6.5.2. */
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** What a client sends first (RFC 9113 §3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

const FRAME_HEAD_BYTES = 9;
export const SETTING_BYTES = 6;
/** The smallest limit that a peer may have, and ours. */
export const MAX_FRAME_BYTES = 16_384;
/** The largest limit that a peer may have. */
export const MAX_PEER_FRAME_BYTES = 2 ** 24 - 1;
/** Of a connection, and of a stream as long as no setting says something else (RFC 9113 §6.9.2). */
export const INITIAL_WINDOW = 65_535;
export const MAX_WINDOW = 2 ** 31 - 1;

const STREAM_MASK = 2 ** 31 - 1;
const EMPTY: Buffer = Buffer.alloc(0);

/** Divides what a client sends into frames (RFC 9113 §3.4, §4.1). The payload of one is `input[start, end)`. */
export class FrameReader {
  input = EMPTY;
  type = 0;
  flags = 0;
  stream = 0;
  start = 0;
  end = 0;
  private at = 0;
  private hasPreface = false;
  /** The preface is another one. */
  private isWrong = false;

  push(chunk: Buffer): void {
    this.input = this.input.length === 0 ? chunk : Buffer.concat([this.input, chunk]);
    if (this.hasPreface || this.input.length < PREFACE.length) return;
    this.hasPreface = true;
    this.at = PREFACE.length;
    this.isWrong = !PREFACE.equals(this.input.subarray(0, this.at));
  }

  /** Whether a frame is complete, or something is wrong. */
  hasNext(): boolean {
    if (!this.hasPreface || this.isWrong) return this.isWrong;
    const bytes = this.input.length - this.at;
    if (bytes < FRAME_HEAD_BYTES) return false;
    const length = this.input.readUIntBE(this.at, 3);
    return length > MAX_FRAME_BYTES || bytes >= FRAME_HEAD_BYTES + length;
  }

  /** Reads the next frame. @returns null, or what is wrong with it or with the preface */
  next(): ErrorCode | null {
    if (this.isWrong) return ErrorCode.protocol;
    const { input, at } = this;
    const length = input.readUIntBE(at, 3);
    if (length > MAX_FRAME_BYTES) return ErrorCode.frameSize;
    this.type = input[at + 3];
    this.flags = input[at + 4];
    this.stream = input.readUInt32BE(at + 5) & STREAM_MASK;
    this.start = at + FRAME_HEAD_BYTES;
    this.end = this.at = this.start + length;
    return null;
  }

  has(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }

  get length(): number {
    return this.end - this.start;
  }

  get payload(): Buffer {
    return this.input.subarray(this.start, this.end);
  }

  /** The first four bytes of the payload, without the reserved bit. */
  get uint31(): number {
    return this.input.readUInt32BE(this.start) & STREAM_MASK;
  }

  /** Takes the padding off. @returns whether it is within the payload */
  unpad(): boolean {
    if (!this.has(Flag.padded)) return true;
    if (this.start === this.end) return false;
    const padding = this.input[this.start++];
    this.end -= padding;
    return this.end >= this.start;
  }

  /** Keeps what is not read, as a copy: it would hold all that was read from the socket. */
  compact(): void {
    if (this.at === 0) return;
    this.input = this.at < this.input.length ? Buffer.from(this.input.subarray(this.at)) : EMPTY;
    this.at = 0;
  }

  /** Nothing more is read. */
  clear(): void {
    this.input = EMPTY;
    this.at = 0;
  }
}

/** The header block of one answer at a time. */
const block = Buffer.allocUnsafeSlow(256);
block[0] = NO_TABLE;

/** Writes the frames of one connection (RFC 9113 §6). */
export class FrameWriter {
  /** The next header block must say that there is no table: the client has less than the default (RFC 9113 §4.3.1). */
  saysNoTable = false;

  constructor(private readonly writer: TickWriter) {}

  settings(settings: readonly (readonly [setting: number, value: number])[]): void {
    this.head(settings.length * SETTING_BYTES, FrameType.settings, 0, 0);
    for (const [setting, value] of settings) {
      this.writer.uint16(setting);
      this.writer.uint32(value);
    }
  }

  acknowledgeSettings(): void {
    this.head(0, FrameType.settings, Flag.ack, 0);
  }

  /** The answer to a PING, whose payload is `bytes[start, end)`. */
  acknowledgePing(bytes: Uint8Array, start: number, end: number): void {
    this.head(end - start, FrameType.ping, Flag.ack, 0);
    this.writer.copy(bytes, start, end);
  }

  /** The client may send this many bytes more on this connection. */
  windowUpdate(bytes: number): void {
    this.head(4, FrameType.windowUpdate, 0, 0);
    this.writer.uint32(bytes);
  }

  headers(
    stream: number,
    status: number,
    headers: Readonly<Record<string, string>>,
    isEnd: boolean,
  ): void {
    const start = this.saysNoTable ? 0 : 1;
    const end = encodeHpack(status, headers, block, 1);
    this.saysNoTable = false;
    const flags = isEnd ? Flag.endHeaders | Flag.endStream : Flag.endHeaders;
    this.head(end - start, FrameType.headers, flags, stream);
    this.writer.copy(block, start, end);
  }

  data(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    this.head(end - start, FrameType.data, isEnd ? Flag.endStream : 0, stream);
    this.writer.copy(bytes, start, end);
  }

  reset(stream: number, code: ErrorCode): void {
    this.head(4, FrameType.rstStream, 0, stream);
    this.writer.uint32(code);
  }

  /** @param lastStream the newest one that was taken */
  goaway(lastStream: number, code: ErrorCode): void {
    this.head(8, FrameType.goaway, 0, 0);
    this.writer.uint32(lastStream);
    this.writer.uint32(code);
  }

  private head(length: number, type: number, flags: number, stream: number): void {
    const { writer } = this;
    writer.reserve(FRAME_HEAD_BYTES + length);
    writer.uint24(length);
    writer.byte(type);
    writer.byte(flags);
    writer.uint32(stream);
  }
}
