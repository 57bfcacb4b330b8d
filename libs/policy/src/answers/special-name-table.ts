import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
import { HEADER_BYTES } from '@weir/dns-wire';
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

/** The special name that the current query asks for, or is below. Reused for every query; allocates nothing. */
export class SpecialMatch {
  special: Special = Special.none;
  /** Offset of the special name in the query: the start of the qname, or of one of its labels. */
  zoneOffset = 0;

  /**
   * Looks for the most specific of `names`.
   * @param hashes of the suffixes of the qname
   * @returns whether there is one; `special` and `zoneOffset` describe it
   */
  find(names: SpecialNameTable, bytes: Uint8Array, hashes: SuffixHashes): boolean {
    this.special = names.find(hashes);
    if (this.special === Special.none) return false;
    this.zoneOffset = offsetOfSuffix(bytes, hashes.count - names.labels);
    return true;
  }

  /** Whether the qname is the apex of an empty zone. Its DS record belongs to the parent zone (RFC 4035 §3.1.4.1). */
  get isZoneApex(): boolean {
    return this.special === Special.emptyZone && this.zoneOffset === HEADER_BYTES;
  }

  /** Whether the qname exists by itself, so that it may have records. */
  get nameExists(): boolean {
    return this.special === Special.emptyZone
      ? this.isZoneApex
      : this.special !== Special.nonexistent;
  }
}

/** Offset in the message of the part of the qname that is left after `skippedLabels` labels. */
function offsetOfSuffix(bytes: Uint8Array, skippedLabels: number): number {
  let at = HEADER_BYTES;
  for (let skip = skippedLabels; skip > 0; skip--) at += bytes[at] + 1;
  return at;
}
