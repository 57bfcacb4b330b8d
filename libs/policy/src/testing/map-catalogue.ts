import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import {
  type CatalogueIndex,
  type CategoryInfo,
  type CategoryRewrite,
  PURPOSES,
} from '../catalogue-index.js';

export interface Listing {
  readonly categories: readonly number[];
  readonly applications: readonly number[];
  /** The categories that rewrite the domain, ascending. */
  readonly rewrites?: readonly number[];
}

/** The categories that are denied to everybody, and the secret one of them. */
export const MANDATORY_IDS = [50, 60] as const;
export const SECRET_ID = 60;

const NO_REWRITES: readonly CategoryRewrite[] = [];

/** A catalogue as a plain map, for tests: domain → the categories and applications that list it. */
export class MapCatalogue implements CatalogueIndex {
  readonly memberships: Int32Array;
  readonly mandatoryIds = MANDATORY_IDS;
  readonly shareable: ReadonlyMap<string, Listing>;
  /** By the low 53 bits of the hash: text of all of it as a key takes ten times as long. */
  private readonly positions = new Map<number, number>();
  private readonly rewrites = new Map<number, readonly CategoryRewrite[]>();

  constructor(key: HashKey, listings: ReadonlyMap<string, Listing>) {
    this.shareable = listings;
    const words = [0];
    const hashes = new SuffixHashes(key);
    for (const [domain, { categories, applications, rewrites = [] }] of listings) {
      const last = hashes.compute(toWireName(domain), 0) - 1;
      this.positions.set(keyOf(hashes, last), words.length);
      this.rewrites.set(
        keyOf(hashes, last),
        rewrites.map((categoryId) => ({
          categoryId,
          target: toWireName(`safe${categoryId}.test`),
        })),
      );
      words.push(categories.length, applications.length, ...categories, ...applications);
    }
    this.memberships = Int32Array.from(words);
  }

  find(names: SuffixHashes, suffix: number): number {
    return this.positions.get(keyOf(names, suffix)) ?? 0;
  }

  rewritesOf(names: SuffixHashes): readonly CategoryRewrite[] {
    return this.rewrites.get(keyOf(names, names.count - 1)) ?? NO_REWRITES;
  }

  candidateMask(names: SuffixHashes): number {
    let mask = 0;
    for (let i = 0; i < names.count; i++) {
      if (this.positions.has(keyOf(names, i))) mask |= 1 << Math.min(i, 31);
    }
    return mask;
  }

  category(id: number): CategoryInfo {
    return {
      name: `Category ${id}`,
      purpose: PURPOSES[id % PURPOSES.length],
      secret: id === SECRET_ID,
    };
  }

  applicationName(id: number): string | undefined {
    return `Application ${id}`;
  }
}

function keyOf({ high, low }: SuffixHashes, suffix: number): number {
  return (high[suffix] & 0x1f_ffff) * 2 ** 32 + low[suffix];
}
