/** Bytes of a representation from `start` up to `end`, exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * What a Range header asks of a representation of `sizeBytes` (RFC 9110 §14.1.2). Undefined: all of it, which is also the answer to
 * several ranges and to what is no range of bytes. Null: nothing that there is (416).
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | null | undefined {
  const match = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/i.exec(header?.trim() ?? '');
  if (!match) return undefined;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), sizeBytes);
    return length === 0 ? null : { start: sizeBytes - length, end: sizeBytes };
  }
  const start = Number(first);
  const end = last === undefined ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  // The last byte before the first: no range at all, so it does not count (RFC 9110 §14.1.1).
  if (last !== undefined && Number(last) < start) return undefined;
  return start < sizeBytes ? { start, end } : null;
}
