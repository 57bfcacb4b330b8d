import type { Duplex } from 'node:stream';

/** Messages over TCP: each after its length in two bytes (RFC 1035 §4.2.2). */

export function writeFrame(stream: Duplex, message: Buffer): boolean {
  return stream.write(frame(message));
}

export function frame(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

export function readFrames(stream: Duplex, take: (message: Buffer) => void): void {
  let received: Buffer = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      take(received.subarray(2, end));
      received = received.subarray(end);
    }
  });
}
