import type { IncomingMessage } from 'node:http';

/** A chunk of this size is passed on as it is. */
const LARGE_CHUNK_BYTES = 512;
const BLOCK_BYTES = 4_096;

/**
 * Puts the small chunks of a body that came in one read of the socket together. A chunk takes some 550 bytes of memory,
 * and Node holds as many as a request may have unread bytes: 65,536 of one byte. Call it before the body comes.
 */
export function coalesceChunks(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let block: Buffer | null = null;
  let used = 0;
  const flush = (): void => {
    if (block !== null) push(block.subarray(0, used));
    block = null;
  };
  // An own property: Express replaces the prototype.
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null || chunk.length >= LARGE_CHUNK_BYTES) {
      flush();
      return push(chunk);
    }
    if (block !== null && used + chunk.length > BLOCK_BYTES) flush();
    if (block === null) {
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      used = 0;
      setImmediate(flush);
    }
    block.set(chunk, used);
    used += chunk.length;
    return request.readableLength + used < request.readableHighWaterMark;
  };
}
