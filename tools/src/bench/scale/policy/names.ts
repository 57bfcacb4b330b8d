const DIGITS = 'abcdefghijklmnopqrstuvwxyz012345';

/** Deterministic 32-bit random numbers (xorshift). */
export function randomNumbers(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/**
 * Writes the wire name `<letter><n>.example`, with `depth` labels in all: those in front are `www`, `www2` … No string
 * is made, so that millions of names take only seconds.
 * @returns where the name ends.
 */
export function writeName(
  bytes: Uint8Array,
  start: number,
  letter: string,
  n: number,
  depth = 2,
): number {
  let at = start;
  for (let label = depth; label > 2; label--) {
    at = writeLabel(bytes, at, label === 3 ? 'www' : `www${label}`);
  }
  bytes[at++] = 8;
  bytes[at++] = letter.charCodeAt(0);
  for (let shift = 30; shift >= 0; shift -= 5) bytes[at++] = DIGITS.charCodeAt((n >>> shift) & 31);
  at = writeLabel(bytes, at, 'example');
  bytes[at] = 0;
  return at + 1;
}

function writeLabel(bytes: Uint8Array, at: number, text: string): number {
  bytes[at++] = text.length;
  for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
  return at;
}

/** The text of the same name of two labels. */
export function textOf(letter: string, n: number): string {
  let label = letter;
  for (let shift = 30; shift >= 0; shift -= 5) label += DIGITS[(n >>> shift) & 31] ?? '';
  return `${label}.example`;
}
