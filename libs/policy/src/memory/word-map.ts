import { REFERENCE_WORDS } from './pair-lookup.js';
import { PairTables } from './pair-tables.js';
import { Space } from './space.js';
import { mix, WordMapLookup } from './word-map-lookup.js';

/** A map from signed words to signed words. −1 and 2³¹ − 1 cannot be values. The first chunk has its reference. */
export class WordMap {
  private readonly lookup: WordMapLookup;
  private readonly tables: PairTables;

  /** @param from the map of which the space was forked. */
  constructor(
    private readonly space = new Space(),
    from?: WordMap,
  ) {
    if (from === undefined) space.add(REFERENCE_WORDS);
    this.tables = new PairTables(0, space, from?.tables);
    this.lookup = new WordMapLookup(space);
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.tables.bytes;
  }

  /** The value of a key; −1: there is none. Allocates nothing. */
  find(key: number): number {
    return this.lookup.find(key);
  }

  set(key: number, value: number): void {
    this.tables.set(this.space.own(0), 0, mix(key), value + 1);
  }

  delete(key: number): void {
    this.tables.delete(this.space.own(0), 0, mix(key), 0);
  }
}
