import type { IncomingMessage } from 'node:http';

/** Framing of the chunks that the first reads of a socket may have. */
const MIN_BYTES = 8_192;

/**
 * Tells whether a body comes in chunks so small that most of what comes is their framing. A chunk of one byte takes
 * 3 µs of the processor, so 16 MB of them would take a minute.
 */
export class BodyFraming {
  private readonly beganAt: number;
  private bodyBytes = 0;

  constructor(private readonly request: IncomingMessage) {
    this.beganAt = request.socket.bytesRead;
  }

  /** Counts a chunk that was read of the body. @returns whether there is more framing than body */
  isExcessive(chunkBytes: number): boolean {
    const { socket, readableLength, complete } = this.request;
    this.bodyBytes += chunkBytes;
    // What follows may be the next request.
    if (complete) return false;
    const framing = socket.bytesRead - this.beganAt - this.bodyBytes - readableLength;
    return framing > this.bodyBytes + MIN_BYTES;
  }
}
