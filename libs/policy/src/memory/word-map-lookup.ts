import { PairLookup } from './pair-lookup.js';
import type { Space } from './space.js';

/** Reads a `WordMap`, in any thread. Allocates nothing. */
export class WordMapLookup {
  private readonly tables: PairLookup;
  private readonly chunks: readonly Int32Array[];

  /** @param space of the map. */
  constructor(space: Space) {
    this.tables = new PairLookup(space, 0);
    this.chunks = space.chunks;
  }

  /** The value of a key; −1: there is none. */
  find(key: number): number {
    return this.tables.find(this.chunks[0], 0, mix(key), 0) - 1;
  }
}

/** Spreads the bits of a word; different words stay different (the finaliser of MurmurHash3). */
export function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}
