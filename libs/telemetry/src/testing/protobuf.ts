/** The fields of a message of Protocol Buffers by number, in order: bytes, or a number for a varint and for fixed64. */
export class ProtobufMessage {
  private readonly fields = new Map<number, (Uint8Array | bigint)[]>();

  constructor(private readonly bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.length;) {
      const [tag, afterTag] = this.varint(at);
      const [value, end] = this.value(view, Number(tag & 7n), afterTag);
      const field = Number(tag >> 3n);
      this.fields.set(field, [...(this.fields.get(field) ?? []), value]);
      at = end;
    }
  }

  messages(field: number): ProtobufMessage[] {
    return this.all(field).map((value) => new ProtobufMessage(value as Uint8Array));
  }

  message(field: number): ProtobufMessage {
    return this.messages(field)[0] ?? new ProtobufMessage(new Uint8Array());
  }

  text(field: number): string {
    return Buffer.from((this.all(field)[0] ?? []) as Uint8Array).toString();
  }

  hex(field: number): string {
    return Buffer.from((this.all(field)[0] ?? []) as Uint8Array).toString('hex');
  }

  /** 0 when it is absent. */
  integer(field: number): bigint {
    return (this.all(field)[0] ?? 0n) as bigint;
  }

  /** Of a field of type double. */
  double(field: number): number {
    return new Float64Array(new BigUint64Array([this.integer(field)]).buffer)[0];
  }

  has(field: number): boolean {
    return this.fields.has(field);
  }

  private all(field: number): (Uint8Array | bigint)[] {
    return this.fields.get(field) ?? [];
  }

  private value(view: DataView, wireType: number, at: number): [Uint8Array | bigint, number] {
    switch (wireType) {
      case 0:
        return this.varint(at);
      case 1:
        return [view.getBigUint64(at, true), at + 8];
      case 2: {
        const [length, start] = this.varint(at);
        const end = start + Number(length);
        return [this.bytes.subarray(start, end), end];
      }
      case 5:
        return [BigInt(view.getUint32(at, true)), at + 4];
      default:
        throw new RangeError(`wire type ${wireType}`);
    }
  }

  private varint(start: number): [bigint, number] {
    let value = 0n;
    for (let at = start; ; at++) {
      const byte = this.bytes[at];
      if (byte === undefined) throw new RangeError('the message is cut off');
      value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
      if (byte < 0x80) return [value, at + 1];
    }
  }
}
