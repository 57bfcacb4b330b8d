import IPCIDR from 'ip-cidr';
import { isIP } from 'node:net';
import { type AddressRange, CidrSet } from './cidr-set.js';

/** The first and the last of the IPv4-mapped addresses, `::ffff:0:0/96` (RFC 4291 §2.5.5.2). */
const FIRST_MAPPED = 0xffff_0000_0000n;
const LAST_MAPPED = 0xffff_ffff_ffffn;

/** 4 or 6: the text is an address of that family, without a zone (`%eth0`). 0: it is not. */
export function addressFamily(text: string): 0 | 4 | 6 {
  return text.includes('%') ? 0 : (isIP(text) as 0 | 4 | 6);
}

export class InvalidCidrError extends Error {
  override readonly name = 'InvalidCidrError';
}

/**
 * Reads networks of both families. An IPv6 network within `::ffff:0:0/96` is the IPv4 network that it maps. Any other
 * IPv6 network, `::/0` included, has no IPv4 address.
 * @param cidrs networks such as `192.0.2.0/24`; a bare address is a network of one; host bits are ignored.
 * @throws InvalidCidrError with the first text that is not a network.
 */
export function parseCidrs(cidrs: readonly string[]): CidrSet {
  const ipv4: AddressRange[] = [];
  const ipv6: AddressRange[] = [];
  for (const cidr of cidrs) {
    const { family, range } = parseCidr(cidr);
    (family === 4 ? ipv4 : ipv6).push(range);
  }
  return CidrSet.of(ipv4, ipv6);
}

function parseCidr(cidr: string): { family: 4 | 6; range: AddressRange } {
  // ip-cidr accepts `/08`, zones and surrounding text, so the form is checked first.
  const [address = '', length] = cidr.split('/', 2);
  const family = addressFamily(address);
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
