// Names for the benchmarks, as wire names in one buffer: built without strings, so that millions take only seconds.

const DIGITS = 'abcdefghijklmnopqrstuvwxyz012345';

/** Deterministic 32-bit random numbers (xorshift). */
export function randomNumbers(seed) {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

function writeLabel(bytes, at, text) {
  bytes[at++] = text.length;
  for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
  return at;
}

/** A label of a kind's letter and seven digits of `n`. */
function writeNumber(bytes, at, letter, n) {
  bytes[at++] = 8;
  bytes[at++] = letter.charCodeAt(0);
  for (let shift = 30; shift >= 0; shift -= 5) bytes[at++] = DIGITS.charCodeAt((n >>> shift) & 31);
  return at;
}

/**
 * Writes `<letter><n>.example`, with `depth` labels in all: those in front are `www`, `www2` …
 * @returns where the name ends.
 */
export function writeName(bytes, at, letter, n, depth = 2) {
  for (let label = depth; label > 2; label--) {
    at = writeLabel(bytes, at, label === 3 ? 'www' : `www${label}`);
  }
  at = writeLabel(bytes, writeNumber(bytes, at, letter, n), 'example');
  bytes[at] = 0;
  return at + 1;
}

/** The text of the same two-label name. */
export function textOf(letter, n) {
  let label = letter;
  for (let shift = 30; shift >= 0; shift -= 5) label += DIGITS[(n >>> shift) & 31];
  return `${label}.example`;
}
