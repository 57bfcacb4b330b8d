import { PairTables, REFERENCE_WORDS } from './pair-tables.js';

/** A map from signed words to signed words. −1 and 2³¹ − 1 cannot be values. */
export class WordMap {
  private readonly tables = new PairTables(0);
  private readonly reference = new Int32Array(REFERENCE_WORDS);

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.tables.bytes;
  }

  /** The value of a key; −1: there is none. Allocates nothing. */
  find(key: number): number {
    return this.tables.find(this.reference, 0, mix(key), 0) - 1;
  }

  set(key: number, value: number): void {
    this.tables.set(this.reference, 0, mix(key), value + 1);
  }

  delete(key: number): void {
    this.tables.delete(this.reference, 0, mix(key), 0);
  }
}

/** Spreads the bits of a word; different words stay different (the finaliser of MurmurHash3). */
function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}
