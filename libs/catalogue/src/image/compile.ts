import type { HashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';
import { CatalogueError } from '../catalogue-error.js';
import type { GroupDefinition } from '../definition/definition.js';
import type { NameList } from '../names/name-list.js';
import { findPopular, type PopularNames } from './popular-names.js';
import { CatalogueImage } from './image.js';
import { EMPTY, type GroupSummary } from './image-format.js';
import { writeImage, MembershipSets } from './image-writer.js';
import { NameMerge } from './name-merge.js';

/** A category or an application with its lists. */
export interface ListedGroup
  extends
    Pick<GroupDefinition, 'id' | 'name'>,
    Partial<Pick<GroupDefinition, 'purpose' | 'mandatory' | 'secret' | 'rewrites'>> {
  /** Its inline domains, and the names of each of its sources. */
  readonly lists: readonly NameList[];
}

/** The input of a compilation. */
export interface ListedGroups {
  readonly categories: readonly ListedGroup[];
  readonly applications: readonly ListedGroup[];
}

/** A compiled catalogue and its key figures. */
export interface CompiledCatalogue {
  readonly image: Uint8Array<ArrayBuffer>;
  /** The digest of the image, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Distinct names listed. */
  readonly domainCount: number;
  /** Ascending by id. */
  readonly categories: readonly GroupSummary[];
  /** Ascending by id. */
  readonly applications: readonly GroupSummary[];
  readonly popular: readonly PopularNames[];
}

/**
 * Compiles groups into an image; `key` is the one that their names are hashed under. Equal groups and keys give equal
 * images, whatever the order of groups and lists. Needs memory for the image beyond that of the lists.
 * @throws CatalogueError when a name hashes to the mark of an empty slot (one in 2⁶⁴), or the image exceeds 4 GiB.
 */
export function compileCatalogue(listed: ListedGroups, key: HashKey): CompiledCatalogue {
  const byId = (a: ListedGroup, b: ListedGroup): number => a.id - b.id;
  const categories = listed.categories.toSorted(byId);
  const groups = [...categories, ...listed.applications.toSorted(byId)];
  const lists = groups.flatMap((group) => group.lists);
  lists.forEach(checkNames);
  const merge = new NameMerge(
    lists,
    groups.flatMap((group, index) => group.lists.map(() => index)),
  );
  const sets = new MembershipSets(
    groups.map(({ id }) => id),
    categories.length,
  );
  const { count, countOf } = countNames(merge, sets, groups.length);
  const summaries = groups.map(({ id, name, purpose, mandatory, secret }, i) => ({
    ...{ id, name: secret === true ? '' : name, domains: countOf[i] },
    ...(purpose && { purpose }),
    ...(mandatory === true && { mandatory }),
    ...(secret === true && { secret }),
  }));
  const names = {
    categories: summaries.slice(0, categories.length),
    applications: summaries.slice(categories.length),
  };
  const rewrites = categories.flatMap(({ id, rewrites: ofCategory = [] }) =>
    ofCategory.map(({ to, names: rewritten }) => ({ categoryId: id, to, names: rewritten })),
  );
  const image = writeImage({ merge, sets, count }, { ...names, rewrites }, key);
  const sha256 = createHash('sha256').update(image).digest('hex');
  const popular = findPopular(CatalogueImage.open(image, key, { checksumVerified: true }), key);
  return { image, sha256, domainCount: count, ...names, popular };
}

/** The mark of an empty slot is the highest hash, so only the last name of a list can have it. */
function checkNames({ words }: NameList): void {
  if (words.length > 0 && words.at(-1) === EMPTY && words.at(-2) === EMPTY) {
    throw new CatalogueError('a name cannot be listed under this DOMAIN_HASH_KEY');
  }
}

function countNames(
  merge: NameMerge,
  sets: MembershipSets,
  groupCount: number,
): { count: number; countOf: Uint32Array } {
  const countOf = new Uint32Array(groupCount);
  let count = 0;
  for (merge.restart(); merge.next(); count++) {
    sets.number(merge.owners, merge.ownerCount);
    for (let i = 0; i < merge.ownerCount; i++) countOf[merge.owners[i]]++;
  }
  return { count, countOf };
}
