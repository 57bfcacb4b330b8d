import { RequestError } from '../../http/errors/errors.js';

/** The rest of a refused body is not read, so the connection cannot be used again. */
const HEADERS = { 'Retry-After': '1', Connection: 'close' };

/**
 * Limits the bytes of all bodies that are being read, or wait for their turn, together. So several may be read at a
 * time, and slow ones delay nobody, but they need no more memory than one large body.
 */
export class HeldBodies {
  private heldBytes = 0;

  constructor(private readonly limitBytes: number) {}

  /** Does the work with a body. The bytes that it reads count until the work ends. */
  async hold<T>(
    body: AsyncIterable<Uint8Array>,
    work: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    const held = { bytes: 0 };
    try {
      return await work(this.count(body, held));
    } finally {
      this.heldBytes -= held.bytes;
    }
  }

  private async *count(
    body: AsyncIterable<Uint8Array>,
    held: { bytes: number },
  ): AsyncGenerator<Uint8Array, undefined> {
    for await (const chunk of body) {
      if (this.heldBytes + chunk.length > this.limitBytes) {
        throw new RequestError('tooManyBodies', undefined, HEADERS);
      }
      held.bytes += chunk.length;
      this.heldBytes += chunk.length;
      yield chunk;
    }
    return undefined;
  }
}
