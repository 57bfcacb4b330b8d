import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import type { GroupSummary } from './image-format.js';
import type { CatalogueImage } from './image.js';
import { POPULAR_DOMAINS } from './popular-domains.js';

/** Well-known domains that a category blocks although nobody expects it. */
export interface PopularNames {
  readonly categoryId: number;
  readonly count: number;
  /** Of a secret category none. */
  readonly domains: readonly string[];
}

/** In these categories a well-known domain is more likely an error of a list than meant. */
function isUnexpected({ purpose, mandatory = false }: GroupSummary): boolean {
  return purpose === 'security' || mandatory;
}

/** The categories of purpose `security`, and mandatory ones, that list a well-known domain or one above it. */
export function findPopular(image: CatalogueImage, key: HashKey): PopularNames[] {
  const hashes = new SuffixHashes(key);
  const found = new Map(
    image.categories.filter(isUnexpected).map(({ id }) => [id, [] as string[]]),
  );
  for (const domain of found.size === 0 ? [] : POPULAR_DOMAINS) {
    const count = hashes.compute(toWireName(domain), 0);
    const ids = new Set<number>();
    for (let suffix = 0; suffix < count; suffix++) {
      const at = image.find(hashes, suffix);
      const categories = at === 0 ? 0 : image.memberships[at];
      for (const id of image.memberships.subarray(at + 2, at + 2 + categories)) ids.add(id);
    }
    for (const id of ids) found.get(id)?.push(domain);
  }
  return Array.from(found, ([categoryId, domains]) => ({
    ...{ categoryId, count: domains.length },
    domains: image.category(categoryId)?.secret === true ? [] : domains,
  })).filter(({ count }) => count > 0);
}
