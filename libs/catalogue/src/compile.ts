import { createHash } from 'node:crypto';
import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { CatalogueError } from './catalogue-error.js';
import type { Definition, GroupDefinition } from './definition.js';
import { EMPTY, type GroupSummary } from './image-format.js';
import { type NamedSlots, writeImage } from './image-writer.js';
import { Listings } from './listings.js';
import { MembershipSets } from './membership-sets.js';

/** A compiled catalogue and what is to be known of it. */
export interface CompiledCatalogue {
  readonly image: Uint8Array<ArrayBuffer>;
  /** Of the image, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Ascending by id. */
  readonly categories: readonly GroupSummary[];
  /** Ascending by id. */
  readonly applications: readonly GroupSummary[];
}

/**
 * Compiles a definition into an image under the deployment's hash key. Equal definitions and keys give equal images, whatever the
 * order in which domains were listed.
 * @throws CatalogueError when a domain hashes to the mark of an empty slot (one in 2⁶⁴).
 */
export function compileCatalogue(definition: Definition, key: HashKey): CompiledCatalogue {
  const byId = (a: GroupDefinition, b: GroupDefinition): number => a.id - b.id;
  const categories = definition.categories.toSorted(byId);
  const groups = [...categories, ...definition.applications.toSorted(byId)];
  const listings = hashAll(groups, key);
  const domainsOfGroup = new Array<number>(groups.length).fill(0);
  const slots = mergeNames(listings, groups, categories.length, domainsOfGroup);
  const summaries = groups.map(({ id, name }, i) => ({ id, name, domains: domainsOfGroup[i] }));
  const names = {
    categories: summaries.slice(0, categories.length),
    applications: summaries.slice(categories.length),
  };
  const image = writeImage(slots, names, key);
  return { image, sha256: createHash('sha256').update(image).digest('hex'), ...names };
}

function hashAll(groups: readonly GroupDefinition[], key: HashKey): Listings {
  const listings = new Listings();
  const hashes = new SuffixHashes(key);
  groups.forEach(({ domains }, group) => {
    for (const domain of domains) {
      const last = hashes.compute(toWireName(domain), 0) - 1;
      if (hashes.high[last] === EMPTY && hashes.low[last] === EMPTY) {
        throw new CatalogueError(`${domain} cannot be listed under this key`);
      }
      listings.add(hashes.high[last], hashes.low[last], group);
    }
  });
  return listings;
}

function mergeNames(
  listings: Listings,
  groups: readonly GroupDefinition[],
  categoryCount: number,
  domainsOfGroup: number[],
): NamedSlots {
  const order = listings.sorted();
  const high = new Uint32Array(order.length);
  const low = new Uint32Array(order.length);
  const setNumber = new Uint32Array(order.length);
  const sets = new MembershipSets();
  let count = 0;
  for (let i = 0; i < order.length;) {
    high[count] = listings.highAt(order[i]);
    low[count] = listings.lowAt(order[i]);
    const categoryIds: number[] = [];
    const applicationIds: number[] = [];
    let previous = -1;
    for (; i < order.length && isSame(listings, order[i], high[count], low[count]); i++) {
      const group = listings.groupAt(order[i]);
      if (group === previous) continue;
      previous = group;
      domainsOfGroup[group]++;
      (group < categoryCount ? categoryIds : applicationIds).push(groups[group].id);
    }
    setNumber[count++] = sets.number(categoryIds, applicationIds);
  }
  return { count, high, low, setNumber, sets };
}

function isSame(listings: Listings, index: number, high: number, low: number): boolean {
  return listings.highAt(index) === high && listings.lowAt(index) === low;
}
