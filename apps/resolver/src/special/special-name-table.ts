import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
import { Special, type SpecialZone } from './special-names.js';

/** Table value of a name that is not special but has a special name below it. */
const ABOVE = Special.none;

/**
 * Finds the most specific special name that a name equals or is below. The table also holds the parents of special
 * names, so for most names one lookup of the top-level domain is enough. Allocates nothing.
 */
export class SpecialNameTable {
  /** Number of labels of the name that the last `find` returned. */
  labels = 0;
  private readonly table: SuffixTable;

  constructor(key: HashKey, zones: readonly SpecialZone[]) {
    const hashes = new SuffixHashes(key);
    this.table = new SuffixTable(zones.reduce((sum, [name]) => sum + name.split('.').length, 0));
    for (const [name, special] of zones) {
      const count = hashes.compute(toWireName(name), 0);
      for (let i = 0; i < count - 1; i++) this.addParent(hashes, i);
      this.table.set(hashes, count - 1, special);
    }
  }

  /** @param names the suffix hashes of the name */
  find(names: SuffixHashes): Special {
    let special: Special = Special.none;
    for (let i = 0; i < names.count; i++) {
      const value = this.table.get(names, i);
      if (value === SuffixTable.absent) break;
      if (value === ABOVE) continue;
      special = value as Special;
      this.labels = i + 1;
    }
    return special;
  }

  private addParent(names: SuffixHashes, suffix: number): void {
    if (this.table.get(names, suffix) === SuffixTable.absent) this.table.set(names, suffix, ABOVE);
  }
}
