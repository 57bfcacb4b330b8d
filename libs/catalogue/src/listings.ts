/** Who lists which name: (64-bit hash, group) pairs in typed arrays, 12 bytes a pair, so that millions fit. */
export class Listings {
  private high = new Uint32Array(1024);
  private low = new Uint32Array(1024);
  private group = new Uint32Array(1024);
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(high: number, low: number, group: number): void {
    if (this.count === this.high.length) {
      this.high = doubled(this.high);
      this.low = doubled(this.low);
      this.group = doubled(this.group);
    }
    this.high[this.count] = high;
    this.low[this.count] = low;
    this.group[this.count++] = group;
  }

  highAt(index: number): number {
    return this.high[index];
  }

  lowAt(index: number): number {
    return this.low[index];
  }

  groupAt(index: number): number {
    return this.group[index];
  }

  /**
   * The indices of all pairs, ascending by (hash, group): two counting sorts over the halves of `high`, then equal highs, which are
   * few, by insertion.
   */
  sorted(): Uint32Array {
    const identity = new Uint32Array(this.count).map((_, i) => i);
    const order = this.countingSort(this.countingSort(identity, 0), 16);
    for (let i = 1; i < order.length; i++) {
      const moving = order[i];
      let at = i;
      while (at > 0 && this.isAfter(order[at - 1], moving)) {
        order[at] = order[at - 1];
        at--;
      }
      order[at] = moving;
    }
    return order;
  }

  private countingSort(order: Uint32Array, shift: number): Uint32Array {
    const starts = new Uint32Array(0x1_0001);
    for (const index of order) starts[((this.high[index] >>> shift) & 0xffff) + 1]++;
    for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
    const sorted = new Uint32Array(order.length);
    for (const index of order) sorted[starts[(this.high[index] >>> shift) & 0xffff]++] = index;
    return sorted;
  }

  private isAfter(a: number, b: number): boolean {
    if (this.high[a] !== this.high[b]) return this.high[a] > this.high[b];
    if (this.low[a] !== this.low[b]) return this.low[a] > this.low[b];
    return this.group[a] > this.group[b];
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
