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
  private readonly positions = new Map<string, number>();
  private readonly rewrites = new Map<string, readonly CategoryRewrite[]>();

  constructor(key: HashKey, listings: ReadonlyMap<string, Listing>) {
    this.shareable = listings;
    const words = [0];
    const hashes = new SuffixHashes(key);
    for (const [domain, { categories, applications, rewrites = [] }] of listings) {
      const last = hashes.compute(toWireName(domain), 0) - 1;
      this.positions.set(`${hashes.high[last]} ${hashes.low[last]}`, words.length);
      this.rewrites.set(
        `${hashes.high[last]} ${hashes.low[last]}`,
        rewrites.map((categoryId) => ({
          categoryId,
          target: toWireName(`safe${categoryId}.test`),
        })),
      );
      words.push(categories.length, applications.length, ...categories, ...applications);
    }
    this.memberships = Int32Array.from(words);
  }

  find({ high, low }: SuffixHashes, suffix: number): number {
    return this.positions.get(`${high[suffix]} ${low[suffix]}`) ?? 0;
  }

  rewritesOf({ count, high, low }: SuffixHashes): readonly CategoryRewrite[] {
    return this.rewrites.get(`${high[count - 1]} ${low[count - 1]}`) ?? NO_REWRITES;
  }

  candidateMask({ count, high, low }: SuffixHashes): number {
    let mask = 0;
    for (let i = 0; i < count; i++) {
      if (this.positions.has(`${high[i]} ${low[i]}`)) mask |= 1 << Math.min(i, 31);
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
