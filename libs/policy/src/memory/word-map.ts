import { PairLookup, REFERENCE_WORDS } from './pair-lookup.js';
import { PairTables } from './pair-tables.js';
import { Space } from './space.js';

/** Reads a `WordMap`, in any thread. Allocates nothing. */
export class WordMapLookup {
  private readonly tables: PairLookup;
  private readonly chunks: readonly Int32Array[];

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

/** A map from signed words to signed words. −1 and 2³¹ − 1 cannot be values. The first chunk has its reference. */
export class WordMap extends WordMapLookup {
  private readonly writer: PairTables;

  constructor(
    private readonly space = new Space(),
    from?: WordMap,
  ) {
    if (from === undefined) space.add(REFERENCE_WORDS);
    super(space);
    this.writer = new PairTables(0, space, from?.writer);
  }

  get bytes(): number {
    return this.writer.bytes;
  }

  /** @returns the value it had; −1: it is new. */
  set(key: number, value: number): number {
    return this.writer.set(this.space.own(0), 0, mix(key), value + 1) - 1;
  }

  /** @returns the value it had; −1: there was none. */
  delete(key: number): number {
    return this.writer.delete(this.space.own(0), 0, mix(key), 0) - 1;
  }
}
