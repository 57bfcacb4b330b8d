import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RequestError } from '../errors/errors.js';
import type { Request } from '../routing/http.js';

const DECODERS: Readonly<Record<string, (() => Transform) | null>> = {
  identity: null,
  gzip: () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** The rest of such a body is not read, so the connection cannot be used again. */
const CLOSE = { Connection: 'close' };

/**
 * The decompressed bytes of a request body, as they arrive.
 * @param limitBytes of the decompressed body.
 * @throws RequestError when it is larger (413), or cannot be decompressed or read to its end (415).
 */
export async function* streamBody(
  request: Request,
  limitBytes: number,
): AsyncGenerator<Uint8Array, undefined> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  const decoder = DECODERS[encoding];
  if (decoder === undefined) throw new RequestError('notJson', undefined, CLOSE);
  if (decoder === null && Number(request.headers['content-length'] ?? 0) > limitBytes) {
    throw new RequestError('bodyTooLarge', undefined, CLOSE);
  }
  let bytes = 0;
  for await (const chunk of decoded(request, decoder)) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > limitBytes) throw new RequestError('bodyTooLarge', undefined, CLOSE);
    yield chunk as Uint8Array;
  }
  return undefined;
}

async function* decoded(
  request: Request,
  decoder: (() => Transform) | null,
): AsyncGenerator<unknown, undefined> {
  try {
    // The request must stay open when reading stops: the response follows.
    if (decoder === null) yield* request.iterator({ destroyOnReturn: false });
    else yield* throughDecoder(request, decoder());
  } catch {
    // The client aborted, or the body does not match its Content-Encoding.
    throw new RequestError('notJson', undefined, CLOSE);
  }
  return undefined;
}

/** Does not use `stream.pipeline`, which would destroy the connection when the bytes cannot be decoded. */
async function* throughDecoder(
  request: Request,
  decoder: Transform,
): AsyncGenerator<unknown, undefined> {
  request.once('error', (error) => decoder.destroy(error));
  try {
    yield* request.pipe(decoder);
  } finally {
    request.unpipe(decoder);
  }
  return undefined;
}
