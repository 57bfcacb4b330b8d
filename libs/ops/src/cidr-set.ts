/** Addresses from `first` to `last`, both included. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Disjoint ranges of one family in ascending order. */
interface AddressRanges {
  readonly count: number;
  /** 32-bit words of an address. */
  readonly wordsEach: 1 | 4;
  /** The first address of each range, in big-endian words; so are `lasts`. */
  readonly firsts: Uint32Array;
  readonly lasts: Uint32Array;
}

function rangesOf(wordsEach: 1 | 4, ranges: readonly AddressRange[]): AddressRanges {
  const merged = merge(ranges);
  const wordsOf = (bound: 'first' | 'last') =>
    new Uint32Array(merged.flatMap((range) => toWords(range[bound], wordsEach)));
  return { count: merged.length, wordsEach, firsts: wordsOf('first'), lasts: wordsOf('last') };
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

/** Whether the address is in one of the ranges. A binary search; allocates nothing. */
function isIn(ranges: AddressRanges, words: Uint32Array): boolean {
  let low = 0;
  let high = ranges.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(ranges.firsts, middle, ranges.wordsEach, words) <= 0) low = middle + 1;
    else high = middle;
  }
  return low > 0 && compare(ranges.lasts, low - 1, ranges.wordsEach, words) >= 0;
}

/** Below 0, 0 or above 0: the bound of that index is below the address, equal to it, or above it. */
function compare(bounds: Uint32Array, index: number, wordsEach: number, words: Uint32Array) {
  const start = index * wordsEach;
  for (let i = 0; i < wordsEach; i++) {
    const bound = bounds[start + i];
    if (bound !== words[i]) return bound < words[i] ? -1 : 1;
  }
  return 0;
}

/** An address in big-endian 32-bit words: one for IPv4 (`words[0]`), four for IPv6. `ClientAddress` has this shape. */
export interface AddressWords {
  /** An IPv4-mapped IPv6 address must be given as family 4 (decisions §8). */
  readonly family: 4 | 6;
  readonly words: Uint32Array;
}

/** Networks of both families. `has` is a binary search, so thousands of networks cost little more than a few. */
export class CidrSet {
  private constructor(
    private readonly ipv4: AddressRanges,
    private readonly ipv6: AddressRanges,
  ) {}

  /** @param ipv4 ranges in any order; they may overlap. So are those of `ipv6`. */
  static of(ipv4: readonly AddressRange[], ipv6: readonly AddressRange[]): CidrSet {
    return new CidrSet(rangesOf(1, ipv4), rangesOf(4, ipv6));
  }

  /** The set that was sent from another thread, which has made an object without methods of it. */
  static revive({ ipv4, ipv6 }: CidrSet): CidrSet {
    return new CidrSet(ipv4, ipv6);
  }

  /** Whether the address is in one of the networks. Allocates nothing. */
  has({ family, words }: AddressWords): boolean {
    return isIn(family === 4 ? this.ipv4 : this.ipv6, words);
  }
}
