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
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** What a client sends first (RFC 9113 §3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const FRAME_HEAD_BYTES = 9;
/** The smallest limit that a peer may have, and ours. */
export const MAX_FRAME_BYTES = 16_384;
/** The largest limit that a peer may have. */
export const MAX_PEER_FRAME_BYTES = 2 ** 24 - 1;
/** Of a connection, and of a stream as long as no setting says something else (RFC 9113 §6.9.2). */
export const INITIAL_WINDOW = 65_535;
export const MAX_WINDOW = 2 ** 31 - 1;

const FIRST_BYTES = 512;

/** Collects frames until they are sent with one write. */
export class FrameWriter {
  length = 0;
  private bytes = Buffer.allocUnsafe(0);

  /** Begins a frame of `length` bytes, which follow. */
  head(length: number, type: number, flags: number, stream: number): void {
    this.reserve(FRAME_HEAD_BYTES + length);
    const { bytes } = this;
    bytes.writeUIntBE(length, this.length, 3);
    bytes[this.length + 3] = type;
    bytes[this.length + 4] = flags;
    bytes.writeUInt32BE(stream, this.length + 5);
    this.length += FRAME_HEAD_BYTES;
  }

  uint16(value: number): void {
    this.length = this.bytes.writeUInt16BE(value, this.length);
  }

  uint32(value: number): void {
    this.length = this.bytes.writeUInt32BE(value, this.length);
  }

  copy(source: Uint8Array, start: number, end: number): void {
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** @returns what was collected; the next frame begins anew */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.length);
    this.bytes = Buffer.allocUnsafe(0);
    this.length = 0;
    return taken;
  }

  private reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, FIRST_BYTES, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
