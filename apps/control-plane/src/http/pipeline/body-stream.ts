import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RequestError } from '../errors/errors.js';
import type { Request } from '../routing/http.js';

/**
 * Framing that any body may have. The parser gives the chunks of one read of the socket one after the other: bytes of
 * this read that it has not given yet, at most 64 KiB, look like framing.
 */
const MIN_BYTES = 65_536 + 8_192;

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

/** Not an object: a client may send `constructor` as the encoding. */
const DECODERS = new Map<string, (() => Transform) | null>([
  ['identity', null],
  ['gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
]);

/** Of a 408 (RFC 9110 §15.5.9). */
const CLOSE = { Connection: 'close' };

export interface BodyLimits {
  /** Of the decompressed body. */
  readonly limitBytes: number;
  /** Longest time until the next bytes. */
  readonly stallMs: number;
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The decompressed bytes of a request body, as they arrive.
 * @throws RequestError when it is larger or mostly framing (413), cannot be decompressed or read to its end (415), or
 * stalls (408).
 */
export async function* streamBody(
  request: Request,
  { limitBytes, stallMs }: BodyLimits,
): AsyncGenerator<Uint8Array, undefined> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) throw new RequestError('notJson');
  if (decoder === null && Number(request.headers['content-length'] ?? 0) > limitBytes) {
    throw new RequestError('bodyTooLarge');
  }
  let bytes = 0;
  for await (const chunk of inTime(decoded(request, decoder), stallMs)) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw new RequestError('bodyTooLarge');
    yield chunk;
  }
  return undefined;
}

/** Measures only the time for which it waits for the client, and not that for which the consumer does not ask. */
async function* inTime(
  chunks: AsyncGenerator<unknown, undefined>,
  stallMs: number,
): AsyncGenerator<Uint8Array, undefined> {
  let isStalled = false;
  try {
    for (;;) {
      const stall = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        isStalled = true;
        stall.reject(new RequestError('bodyStalled', undefined, CLOSE));
      }, stallMs);
      const { done, value } = await Promise.race([chunks.next(), stall.promise]).finally(() => {
        clearTimeout(timer);
      });
      if (done) return undefined;
      yield value as Uint8Array;
    }
  } finally {
    // A generator that waits for the client can return only when the connection ends.
    if (!isStalled) await chunks.return(undefined);
  }
}

async function* decoded(
  request: Request,
  decoder: (() => Transform) | null,
): AsyncGenerator<unknown, undefined> {
  try {
    if (decoder === null) yield* unframed(request);
    else yield* throughDecoder(request, decoder());
  } catch (error) {
    if (error instanceof RequestError) throw error;
    // The client aborted, or the body does not match its Content-Encoding.
    throw new RequestError('notJson');
  }
  return undefined;
}

async function* unframed(request: Request): AsyncGenerator<unknown, undefined> {
  const framing = new BodyFraming(request);
  // The request must stay open when reading stops: the response follows.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (framing.isExcessive((chunk as Uint8Array).length)) throw smallChunks();
    yield chunk;
  }
  return undefined;
}

const smallChunks = (): RequestError => new RequestError('bodyTooLarge', undefined, CLOSE);

/** Does not use `stream.pipeline`, which would destroy the connection when the bytes cannot be decoded. */
async function* throughDecoder(
  request: Request,
  decoder: Transform,
): AsyncGenerator<unknown, undefined> {
  request.once('error', (error) => decoder.destroy(error));
  const framing = new BodyFraming(request);
  const onData = ({ length }: Uint8Array): void => {
    if (framing.isExcessive(length)) decoder.destroy(smallChunks());
  };
  request.on('data', onData);
  try {
    yield* request.pipe(decoder);
  } finally {
    request.off('data', onData).unpipe(decoder);
  }
  return undefined;
}

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
