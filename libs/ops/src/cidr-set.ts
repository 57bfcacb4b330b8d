import { isIPv4, isIPv6 } from 'node:net';
import IPCIDR from 'ip-cidr';
import { type AddressRange, AddressRanges } from './address-ranges.js';

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
