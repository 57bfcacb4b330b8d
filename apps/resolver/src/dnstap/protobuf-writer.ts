const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Writes the fields of a Protocol Buffers message, one after the other, into its own memory. */
export class ProtobufWriter {
  readonly bytes: Uint8Array;
  length = 0;

  /** @param capacity of the longest message, in bytes */
  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  clear(): void {
    this.length = 0;
  }

  /** @param value a whole number, 0 … 2^53 − 1 */
  uint(field: number, value: number): void {
    this.varint(field * 8 + VARINT);
    this.varint(value);
  }

  /** @param value 0 … 2^32 − 1 */
  fixed32(field: number, value: number): void {
    this.varint(field * 8 + FIXED32);
    for (let shift = 0; shift < 32; shift += 8) this.bytes[this.length++] = value >>> shift;
  }

  /** The first `length` bytes of `value`. */
  data(field: number, value: Uint8Array, length: number): void {
    this.varint(field * 8 + LENGTH_DELIMITED);
    this.varint(length);
    for (let i = 0; i < length; i++) this.bytes[this.length++] = value[i];
  }

  private varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
    }
    this.bytes[this.length++] = rest;
  }
}
