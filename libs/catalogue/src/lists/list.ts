import { CatalogueError } from '../catalogue-error.js';

/** Formats of public lists that can be read. */
export const LIST_FORMATS = ['domains', 'hosts', 'adblock', 'rpz', 'ut1', 'dlc'] as const;
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

/** A line of a list, from 1, and what is wrong with it. */
export interface ListExample {
  readonly line: number;
  readonly problem: string;
}

/** The result of reading a list. */
export interface ListReport {
  readonly lines: number;
  /** Names listed, duplicates included. */
  readonly domains: number;
  /** Valid entries that list no name: other rules, other policies, addresses of real hosts. */
  readonly skipped: number;
  /** Of changes of a zone: those added less those removed. */
  readonly invalidLines: number;
  /** The first ten invalid lines. */
  readonly examples: readonly ListExample[];
}

export const MAX_EXAMPLES = 10;

/** Builds the report while a list is read. */
export class ListReportBuilder implements ListReport {
  lines = 0;
  domains = 0;
  skipped = 0;
  invalidLines = 0;
  readonly examples: ListExample[] = [];
  private lastInvalid = 0;

  /** A line counts once, whatever number of faults it has. */
  invalid(problem: string): void {
    if (this.lastInvalid === this.lines) return;
    this.lastInvalid = this.lines;
    this.invalidLines++;
    if (this.examples.length < MAX_EXAMPLES) this.examples.push({ line: this.lines, problem });
  }
}
