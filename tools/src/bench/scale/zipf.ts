/**
 * Ranks from 0 to `count` − 1 by Zipf's law: rank r has the weight (r + 1)^−exponent. Names that are asked for follow
 * it with an exponent of about 0.91 (Jung and others, "DNS performance and the effectiveness of caching", 2002).
 */
export class Zipf {
  /** Sums of weights up to and including each rank. */
  private readonly sums: Float64Array;

  constructor(count: number, exponent: number) {
    this.sums = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank++) {
      sum += (rank + 1) ** -exponent;
      this.sums[rank] = sum;
    }
  }

  /** The rank of a random number from 0 up to, but not including, 1. */
  rank(random: number): number {
    const wanted = random * (this.sums.at(-1) ?? 0);
    let [low, high] = [0, this.sums.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sums[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
