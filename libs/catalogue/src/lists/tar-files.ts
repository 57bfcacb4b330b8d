import { CatalogueError } from '../catalogue-error.js';
import type { ByteStream } from './list.js';

/** The block size of a tar archive (POSIX.1-1988, "ustar"). Each entry begins at a block. */
export const TAR_BLOCK = 512;
const [NAME_BYTES, SIZE_AT, SIZE_BYTES, CHECKSUM_AT, CHECKSUM_BYTES] = [100, 124, 12, 148, 8];
const [TYPE_AT, PREFIX_AT, PREFIX_BYTES] = [156, 345, 155];
const FILE_TYPES = new Set([0, 0x30]);
const SPACE = 0x20;
const NEWLINE = Uint8Array.of(0x0a);

/**
 * The content of an archive's files whose path matches, with a line feed behind each. Holds one block at most. Extended
 * headers are passed over: a path longer than a header holds does not match.
 * @param begin is called before the content of each of these files.
 * @throws CatalogueError while iterated: invalid or incomplete.
 */
export async function* tarFiles(
  stream: ByteStream,
  path: RegExp,
  begin?: (path: string) => void,
): AsyncGenerator<Uint8Array> {
  const header = new Uint8Array(TAR_BLOCK);
  let headerBytes = 0;
  /** Bytes left of the current entry: its content, then the padding up to the next block. */
  let content = 0;
  let padding = 0;
  let isSelected = false;
  for await (const chunk of stream) {
    let at = 0;
    while (at < chunk.length) {
      if (content > 0) {
        const part = chunk.subarray(at, at + content);
        if (isSelected) yield part;
        at += part.length;
        content -= part.length;
        if (content === 0 && isSelected) yield NEWLINE;
      } else if (padding > 0) {
        const skipped = Math.min(padding, chunk.length - at);
        at += skipped;
        padding -= skipped;
      } else {
        const part = chunk.subarray(at, at + TAR_BLOCK - headerBytes);
        header.set(part, headerBytes);
        at += part.length;
        headerBytes += part.length;
        if (headerBytes < TAR_BLOCK) continue;
        headerBytes = 0;
        if (header.every((byte) => byte === 0)) {
          // The end. What follows is read, so that the digest of a list is that of all its bytes.
          padding = Number.POSITIVE_INFINITY;
          continue;
        }
        const entry = readTarHeader(header);
        if (entry === null) throw new CatalogueError('is not a valid tar archive');
        isSelected = entry.isFile && path.test(entry.path);
        if (isSelected) begin?.(entry.path);
        content = entry.size;
        padding = (TAR_BLOCK - (content % TAR_BLOCK)) % TAR_BLOCK;
      }
    }
  }
  if (content > 0 || headerBytes > 0) throw new CatalogueError('is an incomplete tar archive');
}

/** @returns null for a block that is not a header. */
export function readTarHeader(
  block: Uint8Array,
): { readonly path: string; readonly isFile: boolean; readonly size: number } | null {
  if (block.length < TAR_BLOCK || checksum(block) !== octal(block, CHECKSUM_AT, CHECKSUM_BYTES)) {
    return null;
  }
  const size = octal(block, SIZE_AT, SIZE_BYTES);
  if (Number.isNaN(size)) return null;
  const prefix = text(block, PREFIX_AT, PREFIX_BYTES);
  const name = text(block, 0, NAME_BYTES);
  const path = prefix === '' ? name : `${prefix}/${name}`;
  return { path, isFile: FILE_TYPES.has(block[TYPE_AT]), size };
}

/** The sum of the bytes of the header, with spaces in place of the checksum itself. */
function checksum(block: Uint8Array): number {
  let sum = CHECKSUM_BYTES * SPACE;
  for (let i = 0; i < TAR_BLOCK; i++) {
    if (i < CHECKSUM_AT || i >= CHECKSUM_AT + CHECKSUM_BYTES) sum += block[i];
  }
  return sum;
}

function octal(block: Uint8Array, offset: number, length: number): number {
  const digits = text(block, offset, length).trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
}

function text(block: Uint8Array, offset: number, length: number): string {
  const field = block.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return Buffer.from(end === -1 ? field : field.subarray(0, end)).toString('latin1');
}
