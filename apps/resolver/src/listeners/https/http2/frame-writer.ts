import type { TickWriter } from '../../tick-writer.js';
import { type ErrorCode, Flag, FRAME_HEAD_BYTES, FrameType, SETTING_BYTES } from './frames.js';
import { encodeHpack, NO_TABLE } from './hpack.js';

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

  /** The client may send so many bytes more on this connection. */
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
