/** Distinct combinations of categories and applications, each stored once and numbered from 1 in order of appearance. */
export class MembershipSets {
  /** Position of each set in `words`, by number; number 0 is no set. */
  readonly positions: number[] = [0];
  /** See `CatalogueIndex.memberships`. Position 0 is no set. */
  readonly words: number[] = [0];
  private readonly numbers = new Map<string, number>();

  /** @param categoryIds, applicationIds ascending, each once. */
  number(categoryIds: readonly number[], applicationIds: readonly number[]): number {
    const key = `${categoryIds.join()};${applicationIds.join()}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const number = this.positions.length;
    this.numbers.set(key, number);
    this.positions.push(this.words.length);
    this.words.push(categoryIds.length, applicationIds.length, ...categoryIds, ...applicationIds);
    return number;
  }
}
