import type { NameList } from '../names/name-list.js';

/** A k-way merge: the distinct names of several lists, ascending by hash, each with its owners. */
export class NameMerge {
  /** The current name's hash. */
  high = 0;
  low = 0;
  /** Owners of the lists that hold the current name, ascending, each once: the first `ownerCount` are valid. */
  readonly owners: Uint32Array;
  ownerCount = 0;

  /** A binary heap of the lists that have names left, by their next hash, then by number: three values an entry. */
  private readonly heapHigh: Uint32Array;
  private readonly heapLow: Uint32Array;
  private readonly heapList: Uint32Array;
  private size = 0;
  /** For each list the index of its next name in its words. */
  private readonly at: Uint32Array;

  /** @param lists in the order of their owners. @param ownerOf the owner of each list; ascending. */
  constructor(
    private readonly lists: readonly NameList[],
    private readonly ownerOf: readonly number[],
  ) {
    const { length } = lists;
    this.owners = new Uint32Array(length);
    this.heapHigh = new Uint32Array(length);
    this.heapLow = new Uint32Array(length);
    this.heapList = new Uint32Array(length);
    this.at = new Uint32Array(length);
  }

  /** Goes back before the first name. */
  restart(): void {
    this.at.fill(0);
    this.size = 0;
    this.lists.forEach(({ count }, list) => {
      if (count > 0) this.load(this.size++, list);
    });
    for (let parent = (this.size >>> 1) - 1; parent >= 0; parent--) this.sink(parent);
  }

  /** Goes to the next name. @returns false after the last. */
  next(): boolean {
    if (this.size === 0) return false;
    const high = this.heapHigh[0];
    const low = this.heapLow[0];
    this.high = high;
    this.low = low;
    this.ownerCount = 0;
    do {
      this.addOwner(this.ownerOf[this.heapList[0]]);
      this.advance();
    } while (this.size > 0 && this.heapHigh[0] === high && this.heapLow[0] === low);
    return true;
  }

  private addOwner(owner: number): void {
    if (this.ownerCount > 0 && this.owners[this.ownerCount - 1] === owner) return;
    this.owners[this.ownerCount++] = owner;
  }

  /** Advances the list of the first heap entry to its next name, or removes it from the heap. */
  private advance(): void {
    const list = this.heapList[0];
    if (this.at[list] < this.lists[list].words.length) {
      this.load(0, list);
    } else {
      this.size--;
      this.move(this.size, 0);
    }
    this.sink(0);
  }

  private load(entry: number, list: number): void {
    const { words } = this.lists[list];
    const at = this.at[list];
    this.heapLow[entry] = words[at];
    this.heapHigh[entry] = words[at + 1];
    this.heapList[entry] = list;
    this.at[list] = at + 2;
  }

  private move(from: number, to: number): void {
    this.heapHigh[to] = this.heapHigh[from];
    this.heapLow[to] = this.heapLow[from];
    this.heapList[to] = this.heapList[from];
  }

  private sink(start: number): void {
    const { heapHigh, heapLow, heapList, size } = this;
    let parent = start;
    for (;;) {
      let least = parent * 2 + 1;
      if (least >= size) return;
      if (least + 1 < size && this.isBefore(least + 1, least)) least++;
      if (!this.isBefore(least, parent)) return;
      const high = heapHigh[parent];
      const low = heapLow[parent];
      const list = heapList[parent];
      this.move(least, parent);
      heapHigh[least] = high;
      heapLow[least] = low;
      heapList[least] = list;
      parent = least;
    }
  }

  private isBefore(a: number, b: number): boolean {
    const { heapHigh, heapLow, heapList } = this;
    if (heapHigh[a] !== heapHigh[b]) return heapHigh[a] < heapHigh[b];
    if (heapLow[a] !== heapLow[b]) return heapLow[a] < heapLow[b];
    return heapList[a] < heapList[b];
  }
}
