import IPCIDR from 'ip-cidr';
import { isIPv4, isIPv6 } from 'node:net';

/** Addresses from `first` to `last`, both included. */
interface AddressRange {
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

  /** @param wordsEach 32-bit words of an address. @param ranges in any order; they may overlap. */
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

/** The first and the last of the IPv4-mapped addresses, `::ffff:0:0/96` (RFC 4291 §2.5.5.2). */
const FIRST_MAPPED = 0xffff_0000_0000n;
const LAST_MAPPED = 0xffff_ffff_ffffn;

/** A text that is not a network. */
export class InvalidCidrError extends Error {
  override readonly name = 'InvalidCidrError';
}

/** An address in big-endian 32-bit words: one for IPv4 (`words[0]`), four for IPv6. `ClientAddress` has this shape. */
export interface AddressWords {
  /** An IPv4-mapped IPv6 address must be given as family 4 (decisions §8). */
  readonly family: 4 | 6;
  readonly words: Uint32Array;
}

/**
 * Networks of both families. `has` is a binary search, so thousands of networks cost little more than a few.
 *
 * An IPv6 network within `::ffff:0:0/96` is the IPv4 network that it maps. Any other IPv6 network, `::/0` included,
 * has no IPv4 address.
 */
export class CidrSet {
  private constructor(
    private readonly ipv4: AddressRanges,
    private readonly ipv6: AddressRanges,
  ) {}

  /**
   * @param cidrs networks such as `192.0.2.0/24`; a bare address is a network of one; host bits are ignored.
   * @throws InvalidCidrError with the first text that is not a network.
   */
  static parse(cidrs: readonly string[]): CidrSet {
    const ipv4: AddressRange[] = [];
    const ipv6: AddressRange[] = [];
    for (const cidr of cidrs) {
      const { family, range } = parseCidr(cidr);
      (family === 4 ? ipv4 : ipv6).push(range);
    }
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

function parseCidr(cidr: string): { family: 4 | 6; range: AddressRange } {
  // ip-cidr accepts `/08`, zones and surrounding text, so the form is checked first.
  const [address = '', length] = cidr.split('/', 2);
  const family = isIPv4(address) ? 4 : isIPv6(address) && !address.includes('%') ? 6 : 0;
  const longest = family === 4 ? 32 : 128;
  const isLengthValid =
    length === undefined || (/^(0|[1-9]\d{0,2})$/.test(length) && Number(length) <= longest);
  const text = length === undefined ? `${address}/${longest}` : cidr;
  if (family === 0 || !isLengthValid || !IPCIDR.isValidCIDR(text)) {
    throw new InvalidCidrError(`"${cidr.slice(0, 60)}" is not a network`);
  }
  const plainAddress = family === 4 ? address : withoutDots(address);
  const [first, last] = new IPCIDR(`${plainAddress}/${length ?? longest}`).toRange<bigint>({
    type: 'bigInteger',
  });
  if (family === 6 && first >= FIRST_MAPPED && last <= LAST_MAPPED) {
    return { family: 4, range: { first: first - FIRST_MAPPED, last: last - FIRST_MAPPED } };
  }
  return { family, range: { first, last } };
}

/** An IPv6 address in hexadecimal only: ip-cidr takes one that ends in an IPv4 address for that IPv4 address. */
function withoutDots(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}
