/**
 * Distinct combinations of categories and applications, each stored once and numbered from 1 in order of appearance.
 * Groups go by index: categories ascending by id, then applications ascending by id.
 */
export class MembershipSets {
  /** Position of each set in `words`, by number; number 0 is no set. */
  readonly positions: number[] = [0];
  /** See `CatalogueIndex.memberships`. Position 0 is no set. */
  readonly words: number[] = [0];
  /** By group: the number of the set of that group alone, the most frequent case; 0: there is none yet. */
  private readonly alone: Uint32Array;
  private readonly numbers = new Map<string, number>();

  /** @param ids of the groups. */
  constructor(
    private readonly ids: readonly number[],
    private readonly categoryCount: number,
  ) {
    this.alone = new Uint32Array(ids.length);
  }

  /** The number of the set of the first `count` of `groups`: at least one, ascending, each once. */
  number(groups: Uint32Array, count: number): number {
    if (count === 1) {
      const [group] = groups;
      if (this.alone[group] === 0) this.alone[group] = this.add(groups, 1);
      return this.alone[group];
    }
    const key = groups.subarray(0, count).join();
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const number = this.add(groups, count);
    this.numbers.set(key, number);
    return number;
  }

  private add(groups: Uint32Array, count: number): number {
    const members = [...groups.subarray(0, count)];
    const categories = members.filter((group) => group < this.categoryCount).length;
    this.positions.push(this.words.length);
    this.words.push(categories, count - categories, ...members.map((group) => this.ids[group]));
    return this.positions.length - 1;
  }
}
