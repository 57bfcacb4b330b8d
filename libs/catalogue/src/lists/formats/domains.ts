import { HASH, indexOfByte, type LineFormat, skipSpace, trimEnd } from './line-format.js';

/** One domain a line; `#` begins a comment. */
export const DOMAINS: LineFormat = {
  line(bytes, start, end, entries) {
    const from = skipSpace(bytes, start, end);
    const to = trimEnd(bytes, from, indexOfByte(bytes, HASH, from, end));
    if (to > from) entries.name(bytes, from, to);
  },
};
