import { CatalogueError } from '../catalogue-error.js';
import type { GroupSummary } from '../image/image-format.js';
import { type ImageBytes, mergeNames, type NameCursor, StoredImage } from './stored-image.js';
import { numbersIn } from './delta.js';

/** Low and high 32 bits of the hash of a name. */
export type NameHash = readonly [low: number, high: number];

/** What is different in a category or an application. */
export interface GroupDifference {
  readonly kind: GroupKind;
  readonly id: number;
  /** Null: that image does not have it. */
  readonly before: GroupSummary | null;
  readonly after: GroupSummary | null;
  readonly added: NameChanges;
  readonly removed: NameChanges;
}

type GroupKind = 'categories' | 'applications';

export interface NameChanges {
  readonly count: number;
  /** Some of them. */
  readonly names: readonly NameHash[];
}

/** Names that went from one membership set to another. */
interface Move {
  readonly from: number;
  readonly to: number;
  count: number;
  readonly names: NameHash[];
}

/** More than an image has sets. */
const MAX_SETS = 2 ** 26;

/**
 * Compares two images group by group. Both are read once, in order, and never held.
 * @param maxNames of each group, added or removed.
 * @returns the groups that are different: categories, then applications, ascending by id.
 * @throws CatalogueError when one of them is not an image, or their keys differ; what reading throws.
 */
export async function compareImages(
  base: ImageBytes,
  image: ImageBytes,
  maxNames: number,
): Promise<GroupDifference[]> {
  const [before, after] = [await StoredImage.open(base), await StoredImage.open(image)];
  if (before.field('keyCheck') !== after.field('keyCheck')) {
    throw new CatalogueError('the two images were compiled under different DOMAIN_HASH_KEYs');
  }
  const [oldSets, newSets] = [await before.readSets(), await after.readSets()];
  const moves = await movesOf(before, after, numbersIn(newSets, oldSets), maxNames);
  const changes = new Map<string, { added: Move[]; removed: Move[] }>();
  const changesOf = (group: string) => changes.getOrInsert(group, { added: [], removed: [] });
  for (const move of moves) {
    const [old, now] = [groupsOf(oldSets, move.from), groupsOf(newSets, move.to)];
    for (const group of now.difference(old)) changesOf(group).added.push(move);
    for (const group of old.difference(now)) changesOf(group).removed.push(move);
  }
  const [oldGroups, newGroups] = [await before.readGroups(), await after.readGroups()];
  return (['categories', 'applications'] as const).flatMap((kind) => {
    const [old, now] = [oldGroups, newGroups].map(
      (groups) => new Map(groups[kind].map((one) => [one.id, one])),
    );
    const ids = [...new Set([...old.keys(), ...now.keys()])].sort((a, b) => a - b);
    return ids.flatMap((id): GroupDifference[] => {
      const { added = [], removed = [] } = changes.get(`${kind} ${id}`) ?? {};
      const groups = { before: old.get(id) ?? null, after: now.get(id) ?? null };
      const isSame = groups.before?.name === groups.after?.name;
      if (isSame && added.length + removed.length === 0) return [];
      const total = (ofGroup: readonly Move[]): NameChanges => ({
        count: ofGroup.reduce((sum, { count }) => sum + count, 0),
        names: ofGroup.flatMap(({ names }) => names).slice(0, maxNames),
      });
      return [{ kind, id, ...groups, added: total(added), removed: total(removed) }];
    });
  });
}

async function movesOf(
  before: StoredImage,
  after: StoredImage,
  newNumbers: Uint32Array,
  maxNames: number,
): Promise<Iterable<Move>> {
  const moves = new Map<number, Move>();
  const visit = (old: NameCursor | null, now: NameCursor | null): void => {
    const [from, to] = [old?.setNumber ?? 0, now?.setNumber ?? 0];
    if (from !== 0 && to !== 0 && newNumbers[from] === to) return;
    const key = from * MAX_SETS + to;
    const move = moves.getOrInsert(key, { from, to, count: 0, names: [] });
    move.count++;
    const { low, high } = (now ?? old) as NameCursor;
    if (move.names.length < maxNames) move.names.push([low, high]);
  };
  for await (const _ of mergeNames(before, after, visit));
  return moves.values();
}

/** The groups of a membership set, such as `categories 12`. */
function groupsOf(sets: readonly string[], number: number): ReadonlySet<string> {
  // Number 0 is no set.
  const [categories, , ...ids] = number === 0 ? [] : sets[number].split(',');
  return new Set(
    ids.map((id, i) => `${i < Number(categories) ? 'categories' : 'applications'} ${id}`),
  );
}
