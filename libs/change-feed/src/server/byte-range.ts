/** Bytes of a representation from `start` up to `end`, exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The range that a Range header asks for, of a representation of `sizeBytes` (RFC 9110 §14.1.2).
 * @returns undefined: all of it (no header, several ranges, or no valid byte range); null: not satisfiable (416).
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
  // The last byte comes before the first: the range is invalid and ignored (RFC 9110 §14.1.1).
  if (last !== undefined && Number(last) < start) return undefined;
  return start < sizeBytes ? { start, end } : null;
}
