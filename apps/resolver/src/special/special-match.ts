import type { SuffixHashes } from '@weir/dns-name';
import { HEADER_BYTES } from '@weir/dns-wire';
import type { SpecialNameTable } from './special-name-table.js';
import { Special } from './special-names.js';

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
