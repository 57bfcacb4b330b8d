// What bench:scale takes from names.mjs.
export function randomNumbers(seed: number): () => number;
export function writeName(
  bytes: Uint8Array,
  at: number,
  letter: string,
  n: number,
  depth?: number,
): number;
