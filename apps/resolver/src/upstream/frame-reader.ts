const LENGTH_BYTES = 2;
const ID_BYTES = 2;
const EMPTY = Buffer.alloc(0);

/** Cuts what a connection brings into messages: each has its length before it (RFC 1035 §4.2.2). */
export class FrameReader {
  private received: Buffer = EMPTY;

  /** @param onMessage called for each message that is complete. @returns false for a message without an id */
  read(chunk: Buffer, onMessage: (message: Buffer) => void): boolean {
    let rest = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt16BE(0)) {
      const end = LENGTH_BYTES + rest.readUInt16BE(0);
      const message = rest.subarray(LENGTH_BYTES, end);
      rest = rest.subarray(end);
      if (message.length < ID_BYTES) return false;
      onMessage(message);
    }
    this.received = rest;
    return true;
  }
}

/** @returns a copy of the message with its length before it */
export function frameOf(message: Uint8Array, length: number): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt16BE(length, 0);
  frame.set(message.subarray(0, length), LENGTH_BYTES);
  return frame;
}
