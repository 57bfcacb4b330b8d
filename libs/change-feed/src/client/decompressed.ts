import { pipeline, Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { FeedError } from './feed-requests.js';

/**
 * The bytes that were compressed with zstd.
 * @param damaged the error for bytes that were not. @throws it; FeedError when the chunks throw it.
 */
export async function* decompressed(
  chunks: AsyncIterable<Uint8Array>,
  damaged: (cause: unknown) => Error,
): AsyncGenerator<Uint8Array> {
  const decompress = createZstdDecompress();
  let problem: unknown;
  pipeline(Readable.from(chunks), decompress, (error) => {
    problem ??= error;
  });
  try {
    yield* decompress as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof FeedError) throw error;
    throw damaged(problem);
  }
}
