/** Addresses from `first` to `last`, both included. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Ranges of addresses of one family. */
class AddressRanges {
  private readonly count: number;

  /**
   * @param wordsEach 32-bit words of an address.
   * @param firsts bounds of disjoint ranges in ascending order, `wordsEach` big-endian words each; so are `lasts`.
   */
  private constructor(
    private readonly wordsEach: 1 | 4,
    private readonly firsts: Uint32Array,
    private readonly lasts: Uint32Array,
  ) {
    this.count = firsts.length / wordsEach;
  }

  /** @param ranges in any order; they may overlap. */
  static of(wordsEach: 1 | 4, ranges: readonly AddressRange[]): AddressRanges {
    const merged = merge(ranges);
    return new AddressRanges(
      wordsEach,
      new Uint32Array(merged.flatMap(({ first }) => toWords(first, wordsEach))),
      new Uint32Array(merged.flatMap(({ last }) => toWords(last, wordsEach))),
    );
  }

  /** The ranges that were sent from another thread, which has made an object without methods of them. */
  static revive({ wordsEach, firsts, lasts }: AddressRanges): AddressRanges {
    return new AddressRanges(wordsEach, firsts, lasts);
  }

  /** Whether the address is in one of the ranges. A binary search; allocates nothing. */
  has(words: Uint32Array): boolean {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(this.firsts, middle, words) <= 0) low = middle + 1;
      else high = middle;
    }
    return low > 0 && this.compare(this.lasts, low - 1, words) >= 0;
  }

  /** Below 0, 0 or above 0: the bound of that index is below the address, equal to it, or above it. */
  private compare(bounds: Uint32Array, index: number, words: Uint32Array): number {
    const start = index * this.wordsEach;
    for (let i = 0; i < this.wordsEach; i++) {
      const bound = bounds[start + i];
      if (bound !== words[i]) return bound < words[i] ? -1 : 1;
    }
    return 0;
  }
}

/** The same addresses as disjoint ranges in ascending order. */
function merge(ranges: readonly AddressRange[]): AddressRange[] {
  const merged: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const before = merged.at(-1);
    if (before === undefined || range.first > before.last) merged.push(range);
    else if (range.last > before.last) merged.splice(-1, 1, { ...before, last: range.last });
  }
  return merged;
}

function toWords(address: bigint, count: number): number[] {
  return Array.from({ length: count }, (_, i) =>
    Number(BigInt.asUintN(32, address >> BigInt(32 * (count - 1 - i)))),
  );
}

/** An address in big-endian 32-bit words: one for IPv4 (`words[0]`), four for IPv6. `ClientAddress` has this shape. */
export interface AddressWords {
  /** An IPv4-mapped IPv6 address must be given as family 4 (decisions §8). */
  readonly family: 4 | 6;
  readonly words: Uint32Array;
}

/**
 * Networks of both families. `has` is a binary search, so thousands of networks cost little more than a few.
 */
export class CidrSet {
  private constructor(
    private readonly ipv4: AddressRanges,
    private readonly ipv6: AddressRanges,
  ) {}

  /** @param ipv4 ranges in any order; they may overlap. So are those of `ipv6`. */
  static of(ipv4: readonly AddressRange[], ipv6: readonly AddressRange[]): CidrSet {
    return new CidrSet(AddressRanges.of(1, ipv4), AddressRanges.of(4, ipv6));
  }

  /** The set that was sent from another thread, which has made an object without methods of it. */
  static revive({ ipv4, ipv6 }: CidrSet): CidrSet {
    return new CidrSet(AddressRanges.revive(ipv4), AddressRanges.revive(ipv6));
  }

  /** Whether the address is in one of the networks. Allocates nothing. */
  has({ family, words }: AddressWords): boolean {
    return (family === 4 ? this.ipv4 : this.ipv6).has(words);
  }
}
