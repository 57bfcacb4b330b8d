import type { SuffixHashes } from '@weir/dns-name';

export const PURPOSES = ['security', 'legal', 'parental', 'productivity', 'other'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** What clients are told of a category. */
export interface CategoryInfo {
  readonly name: string;
  /** Undefined: `other`. */
  readonly purpose?: Purpose | undefined;
  /** It is denied to everybody (decisions §14). */
  readonly mandatory?: boolean | undefined;
  /** Only of a mandatory one: nobody is told that it decided. Its name is empty. */
  readonly secret?: boolean | undefined;
}

export interface CategoryRewrite {
  readonly categoryId: number;
  /** A wire name. */
  readonly target: Uint8Array;
}

/**
 * What a policy needs of a catalogue image: which categories and applications list exactly this name. The policy asks
 * for every suffix of a name, so an index does not look at parents. Immutable; a new image is a new index.
 */
export interface CatalogueIndex {
  /**
   * All membership sets, one after the other. A set at offset p is: at p the number of categories c, at p + 1 the
   * number of applications a, then c category ids and a application ids, each ascending. Offset 0 is no set.
   */
  readonly memberships: Int32Array;
  /** The categories that are denied to everybody. */
  readonly mandatoryIds: readonly number[];
  /** What the same index can be opened from in another thread, when it was sent there; undefined: nothing. */
  readonly shareable?: unknown;
  /**
   * The offset in `memberships` of the set for the suffix with that index in `names`, by its full 64-bit hash; 0: no
   * category and no application lists it. Allocates nothing, never throws. (Hashes as arguments would be boxed.)
   */
  find(names: SuffixHashes, suffix: number): number;
  /**
   * Which suffixes of a name may be listed, as bits: bit i is the suffix with index i, bit 31 all suffixes from index
   * 31. For a suffix without its bit, `find` returns 0, so most names need no search. Allocates nothing, never
   * throws.
   */
  candidateMask(names: SuffixHashes): number;
  /** Where categories send exactly this name, ascending by category; mostly empty. Allocates nothing, never throws. */
  rewritesOf(names: SuffixHashes): readonly CategoryRewrite[];
  /** Undefined: the catalogue does not have it. */
  category(id: number): CategoryInfo | undefined;
  /** The display name of an application; undefined: the catalogue does not have it. */
  applicationName(id: number): string | undefined;
}
