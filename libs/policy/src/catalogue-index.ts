import type { SuffixHashes } from '@weir/dns-name';

/**
 * What a policy needs of a catalogue image: which categories and applications list exactly this name. Parents are the policy's
 * business: it asks for every suffix. Immutable; a new image is a new index.
 */
export interface CatalogueIndex {
  /**
   * All membership sets, one after the other. The set at position p is: p + 0 number of categories c, p + 1 number of
   * applications a, then c category ids and a application ids, each ascending. Position 0 is no set.
   */
  readonly memberships: Int32Array;
  /**
   * Position in `memberships` of the set of the suffix with that index in `names`, by its full 64-bit hash; 0 when nothing lists it.
   * Allocates nothing, never throws. (Hashes as arguments would be boxed as objects.)
   */
  find(names: SuffixHashes, suffix: number): number;
  /**
   * Which suffixes of a name may be listed: bit i stands for the suffix with index i, bit 31 for all from there on. A bit that is not set is
   * certain: `find` answers 0. So most names cost no search. Allocates nothing, never throws.
   */
  candidateMask(names: SuffixHashes): number;
  /** Name of the category with this id, for people; undefined: the catalogue does not have it. */
  categoryName(id: number): string | undefined;
  /** Name of the application with this id, for people; undefined: the catalogue does not have it. */
  applicationName(id: number): string | undefined;
}
