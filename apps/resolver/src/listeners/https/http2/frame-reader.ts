import { ErrorCode, Flag, FRAME_HEAD_BYTES, MAX_FRAME_BYTES, PREFACE } from './frames.js';

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
