import { RequestError } from '../errors/errors.js';

interface HeldBody {
  /** Its bytes, which are counted. */
  readonly body: AsyncIterable<Uint8Array>;
  /** They count no longer. */
  readonly release: () => void;
}

/**
 * Limits the bytes of all bodies together that are held at a time. So several may be read at a time, and slow ones
 * delay nobody, but they need no more memory than the limit.
 */
export class HeldBodies {
  private heldBytes = 0;

  /** @param smallBytes a body of at most this size counts too, but is never refused for the sake of others. */
  constructor(
    private readonly limitBytes: number,
    private readonly smallBytes = 0,
  ) {}

  /** Does the work with a body. The bytes that it reads count until the work ends. */
  async hold<T>(
    body: AsyncIterable<Uint8Array>,
    work: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    const held = this.open(body);
    try {
      return await work(held.body);
    } finally {
      held.release();
    }
  }

  /** The bytes that are read of the body count until it is released. */
  open(body: AsyncIterable<Uint8Array>): HeldBody {
    const held = { bytes: 0, isReleased: false };
    const release = (): void => {
      if (!held.isReleased) this.heldBytes -= held.bytes;
      held.isReleased = true;
    };
    return { body: this.count(body, held), release };
  }

  private async *count(
    body: AsyncIterable<Uint8Array>,
    held: { bytes: number; readonly isReleased: boolean },
  ): AsyncGenerator<Uint8Array, undefined> {
    let readBytes = 0;
    for await (const chunk of body) {
      readBytes += chunk.length;
      if (readBytes > this.smallBytes && this.heldBytes + chunk.length > this.limitBytes) {
        throw new RequestError('tooManyBodies', undefined, { 'Retry-After': '1' });
      }
      if (!held.isReleased) {
        held.bytes += chunk.length;
        this.heldBytes += chunk.length;
      }
      yield chunk;
    }
    return undefined;
  }
}
