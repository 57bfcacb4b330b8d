import type { Readable } from 'node:stream';

/** The result of reading a body. */
export type Body = { readonly bytes: Buffer } | 'too large' | 'broken off';

/** Room for a query of ordinary size. A larger body gets twice the room, again and again. */
const FIRST_BYTES = 512;

/**
 * Reads at most `maxBytes` bytes. Calls `done` once. The rest of a body that is too large stays unread. Copies what
 * arrives: a chunk is a slice of the buffer that a socket was read into, and would hold all of it.
 * @param onGrow called with the bytes of memory that are taken beyond those before
 */
export function readBody(
  stream: Readable,
  maxBytes: number,
  done: (body: Body) => void,
  onGrow: (bytes: number) => void = () => undefined,
): void {
  let bytes = Buffer.alloc(0);
  let size = 0;
  const finish = (body: Body): void => {
    stream.off('data', onData).off('end', onEnd).off('close', onClose).off('aborted', onClose);
    done(body);
  };
  const onData = (chunk: Buffer): void => {
    const end = size + chunk.length;
    if (end > maxBytes) {
      stream.pause();
      finish('too large');
      return;
    }
    if (end > bytes.length) {
      const room = Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * bytes.length, end));
      onGrow(room - bytes.length);
      // Not of the pool, of which it would hold a whole slab.
      const larger = Buffer.allocUnsafeSlow(room);
      bytes.copy(larger, 0, 0, size);
      bytes = larger;
    }
    chunk.copy(bytes, size);
    size = end;
  };
  const onEnd = (): void => {
    finish({ bytes: bytes.subarray(0, size) });
  };
  const onClose = (): void => {
    finish('broken off');
  };
  // The body of a request that was reset over HTTP/2 also ends.
  stream.on('data', onData).on('end', onEnd).on('close', onClose).on('aborted', onClose);
}
