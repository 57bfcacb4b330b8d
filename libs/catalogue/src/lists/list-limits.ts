import { CatalogueError } from '../catalogue-error.js';

/** Formats of public lists that can be read. */
export const LIST_FORMATS = ['domains', 'hosts', 'adblock', 'rpz', 'ut1'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

/** Limits of a list. `maxNames` bounds the memory. */
export interface ListLimits {
  /** Bytes as received, compressed or not. */
  readonly maxBytes: number;
  /** Bytes after decompression. */
  readonly maxUnpackedBytes: number;
  /** A longer line is counted as invalid. */
  readonly maxLineBytes: number;
  /** Names, duplicates included: 8 bytes of memory each. */
  readonly maxNames: number;
}

export const DEFAULT_LIMITS: ListLimits = {
  maxBytes: 1024 ** 3,
  maxUnpackedBytes: 4 * 1024 ** 3,
  maxLineBytes: 64 * 1024,
  maxNames: 100_000_000,
};

export type ByteStream = AsyncIterable<Uint8Array>;

/** The same stream with a limit. @throws CatalogueError when it is longer than `maxBytes`. */
export async function* bounded(
  stream: ByteStream,
  maxBytes: number,
  unpacked = '',
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new CatalogueError(`is larger than ${maxBytes} bytes${unpacked}`);
    yield chunk;
  }
}
