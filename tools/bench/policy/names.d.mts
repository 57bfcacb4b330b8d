// Types of names.mjs, for bench:scale and for `npm run lint`.
export function randomNumbers(seed: number): () => number;
export function writeName(
  bytes: Uint8Array,
  at: number,
  letter: string,
  n: number,
  depth?: number,
): number;
export function textOf(letter: string, n: number): string;
