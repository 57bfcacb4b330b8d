/** What a `RevisionHeap` orders. */
export interface Ranked {
  readonly revision: number;
  /** Its place in the heap that it is in. Only the heap writes it. */
  place: number;
}

/** A binary heap by revision, the lowest first. Items may be removed from anywhere. */
export class RevisionHeap<T extends Ranked> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  /** One with the lowest revision. */
  get first(): T | undefined {
    return this.items[0];
  }

  add(item: T): void {
    this.items.push(item);
    this.moveUp(item, this.items.length - 1);
  }

  /** @param item must be in this heap. */
  remove(item: T): void {
    const last = this.items.pop() as T;
    if (last !== item) this.replace(item, last);
  }

  /** Puts `replacement` in the heap instead of `item`, which must be in it. */
  replace(item: T, replacement: T): void {
    if (replacement.revision < item.revision) this.moveUp(replacement, item.place);
    else this.moveDown(replacement, item.place);
  }

  /** How many have a lower revision. The work grows with this number only. */
  countBelow(revision: number): number {
    return this.countBelowFrom(0, revision);
  }

  private countBelowFrom(place: number, revision: number): number {
    const item = this.items[place];
    if (item === undefined || item.revision >= revision) return 0;
    const left = 2 * place + 1;
    return 1 + this.countBelowFrom(left, revision) + this.countBelowFrom(left + 1, revision);
  }

  private moveUp(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = this.items[(place - 1) >> 1];
      if (parent.revision <= item.revision) break;
      this.put(parent, place);
      place = (place - 1) >> 1;
    }
    this.put(item, place);
  }

  private moveDown(item: T, from: number): void {
    let place = from;
    for (;;) {
      const child = this.lowerChild(place);
      if (child === undefined || child.revision >= item.revision) break;
      const next = child.place;
      this.put(child, place);
      place = next;
    }
    this.put(item, place);
  }

  private lowerChild(place: number): T | undefined {
    const left = this.items[2 * place + 1];
    const right = this.items[2 * place + 2];
    return left !== undefined && right !== undefined && right.revision < left.revision
      ? right
      : left;
  }

  private put(item: T, place: number): void {
    this.items[place] = item;
    item.place = place;
  }
}
