/** Two bytes, big-endian. */
export function readUint16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] << 8) | bytes[offset + 1];
}

/** Four bytes, big-endian, unsigned. */
export function readUint32(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset] << 24) |
      (bytes[offset + 1] << 16) |
      (bytes[offset + 2] << 8) |
      bytes[offset + 3]) >>>
    0
  );
}

export function writeUint16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 8;
  bytes[offset + 1] = value;
}

export function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}

/** Copies `length` bytes without creating a view, which would cost more than copying a name. */
export function copyBytes(
  from: Uint8Array,
  fromOffset: number,
  to: Uint8Array,
  toOffset: number,
  length: number,
): void {
  for (let i = 0; i < length; i++) to[toOffset + i] = from[fromOffset + i];
}

/** Whether `size` bytes of `all`, from `offset` on, are those of `part`. */
export function equalsAt(all: Uint8Array, offset: number, part: Uint8Array, size: number): boolean {
  for (let i = 0; i < size; i++) if (all[offset + i] !== part[i]) return false;
  return true;
}
