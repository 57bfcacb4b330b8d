import { type Entries, HASH, indexOfByte, skipSpace, trimEnd } from './line-format.js';

/** One domain a line; `#` begins a comment. */
export function domainsLine(bytes: Uint8Array, start: number, end: number, entries: Entries): void {
  const from = skipSpace(bytes, start, end);
  const to = trimEnd(bytes, from, indexOfByte(bytes, HASH, from, end));
  if (to > from) entries.name(bytes, from, to);
}
