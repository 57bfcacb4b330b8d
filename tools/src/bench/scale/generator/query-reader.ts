import { RECORD_HEADER_BYTES } from '../query-file.js';

/** Reads the datagrams of a query file in order, again from the first one after the last. */
export class QueryReader {
  readonly count: number;
  /** The last datagram that was read, and its length. */
  readonly datagram = new Uint8Array(1_024);
  length = 0;
  /** Where its message id is. */
  idOffset = 0;
  private at = 0;

  constructor(private readonly bytes: Buffer) {
    let count = 0;
    for (let at = 0; at < bytes.length; count++) at += RECORD_HEADER_BYTES + bytes.readUInt16LE(at);
    if (count === 0) throw new RangeError('a query file without queries');
    this.count = count;
  }

  /** Reads the next datagram to `datagram`. */
  next(): void {
    const { bytes, datagram } = this;
    if (this.at >= bytes.length) this.at = 0;
    const length = bytes.readUInt16LE(this.at);
    this.idOffset = bytes.readUInt16LE(this.at + 2);
    const start = this.at + RECORD_HEADER_BYTES;
    for (let i = 0; i < length; i++) datagram[i] = bytes[start + i] ?? 0;
    this.length = length;
    this.at = start + length;
  }
}
