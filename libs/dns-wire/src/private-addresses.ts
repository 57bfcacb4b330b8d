import { readUint16, readUint32 } from './bytes.js';
import { RecordRemoval } from './copied-records.js';
import { BAD_NAME, skipName } from './names.js';
import { Ede, Flag, RECORD_FIXED_BYTES, Type } from './protocol.js';
import { endOfRecord, fixedPartOf, type Response, typeOfRecord } from './response.js';

/** Networks that every site has for itself, as 32 bits, and the lengths of their prefixes. */
// oxfmt-ignore
const PRIVATE_IPV4: readonly (readonly [network: number, bits: number])[] = [
  [0x0000_0000, 8],  // 0.0.0.0/8, this host (RFC 1122 §3.2.1.3)
  [0x0a00_0000, 8],  // 10.0.0.0/8, private (RFC 1918 §3)
  [0x6440_0000, 10], // 100.64.0.0/10, shared (RFC 6598 §7)
  [0x7f00_0000, 8],  // 127.0.0.0/8, loopback (RFC 1122 §3.2.1.3)
  [0xa9fe_0000, 16], // 169.254.0.0/16, link-local (RFC 3927 §2.1)
  [0xac10_0000, 12], // 172.16.0.0/12, private
  [0xc0a8_0000, 16], // 192.168.0.0/16, private
];
/** First 32 bits of 64:ff9b::/96, addresses of NAT64 (RFC 6052 §2.1). */
const NAT64 = 0x0064_ff9b;
/** Third 32 bits of ::ffff:0:0/96, IPv4-mapped addresses (RFC 4291 §2.5.5.2). */
const MAPPED = 0x0000_ffff;
/** First 16 bits of 2002::/16, addresses of 6to4 (RFC 3056 §2). */
const SIX_TO_FOUR = 0x2002;
/** First seven bits of fc00::/7, unique local (RFC 4193 §3.1). */
const UNIQUE_LOCAL = 0xfc >>> 1;
/** First nine bits of fe80::/10, link-local, and fec0::/10, site-local until RFC 3879 (RFC 3513 §2.4). */
const LOCAL_UNICAST = 0xfe80 >>> 7;

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
/** SvcPriority, before the TargetName (RFC 9460 §2.2), and SvcParamKeys (§14.3.2). */
const SVC_PRIORITY_BYTES = 2;
const PARAM_HEADER_BYTES = 4;
const IPV4_HINT = 4;
const IPV6_HINT = 6;

/**
 * Whether an answer or authority record is an address of a private network, or hints at one: A, AAAA, HTTPS or SVCB.
 * That is an IPv4 address of this host, or a private, shared, loopback or link-local one; such an address in an IPv6
 * one; or an IPv6 address that is unspecified, loopback, unique local, link-local or site-local.
 */
export function hasPrivateAddresses(response: Response): boolean {
  const count = response.answerCount + response.authorityCount;
  for (let i = 0; i < count; i++) if (isPrivate(response, i)) return true;
  return false;
}

/** Copies responses without private addresses. Reused; allocates nothing. */
export class PrivateAddressRemoval {
  private readonly removal = new RecordRemoval();

  /**
   * @returns a copy without private addresses, signatures and additional records, not authenticated, with EDE 15
   *   (RFC 8914 §4.16), valid until the next call; null when it would have no record of that type
   */
  remove(response: Response, qtype: number): Response | null {
    const { answerCount, authorityCount, ttlCount } = response;
    const { isRemoved } = this.removal;
    let isAnswered = false;
    for (let i = 0; i < ttlCount; i++) {
      const type = typeOfRecord(response, i);
      const isAdditional = i >= answerCount + authorityCount;
      // What is left of a set is not what was signed.
      const stays = !isAdditional && type !== Type.rrsig && !isPrivate(response, i);
      isRemoved[i] = stays ? 0 : 1;
      if (stays && i < answerCount && type === qtype) isAnswered = true;
    }
    const rest = isAnswered ? this.removal.copy(response) : null;
    if (rest === null) return null;
    rest.flags &= ~Flag.ad;
    rest.ede = Ede.blocked;
    return rest;
  }
}

function isPrivate(response: Response, index: number): boolean {
  const { bytes } = response;
  const fixed = fixedPartOf(response, index);
  const at = fixed + RECORD_FIXED_BYTES;
  const end = endOfRecord(bytes, fixed);
  switch (readUint16(bytes, fixed)) {
    case Type.a:
      return end - at === IPV4_BYTES && isPrivateIpv4(readUint32(bytes, at));
    case Type.aaaa:
      return end - at === IPV6_BYTES && isPrivateIpv6(bytes, at);
    case Type.https:
    case Type.svcb:
      return hasPrivateHint(bytes, at, end);
    default:
      return false;
  }
}

/** Reads the hints up to the first parameter that is malformed. */
function hasPrivateHint(bytes: Uint8Array, rdata: number, end: number): boolean {
  let at = skipName(bytes, end, rdata + SVC_PRIORITY_BYTES);
  if (at === BAD_NAME) return false;
  while (at + PARAM_HEADER_BYTES <= end) {
    const key = readUint16(bytes, at);
    const value = at + PARAM_HEADER_BYTES;
    at = value + readUint16(bytes, at + 2);
    if (at > end) return false;
    for (let hint = value; key === IPV4_HINT && hint + IPV4_BYTES <= at; hint += IPV4_BYTES) {
      if (isPrivateIpv4(readUint32(bytes, hint))) return true;
    }
    for (let hint = value; key === IPV6_HINT && hint + IPV6_BYTES <= at; hint += IPV6_BYTES) {
      if (isPrivateIpv6(bytes, hint)) return true;
    }
  }
  return false;
}

function isPrivateIpv4(address: number): boolean {
  for (let i = 0; i < PRIVATE_IPV4.length; i++) {
    const range = PRIVATE_IPV4[i];
    if ((address ^ range[0]) >>> (32 - range[1]) === 0) return true;
  }
  return false;
}

function isPrivateIpv6(bytes: Uint8Array, at: number): boolean {
  const first = readUint32(bytes, at);
  const second = readUint32(bytes, at + 4);
  const third = readUint32(bytes, at + 8);
  const fourth = readUint32(bytes, at + 12);
  // An address of IPv4 itself (RFC 4291 §2.5.5.1): so :: and ::1 are in 0.0.0.0/8.
  const isIpv4 = first === 0 && second === 0 && (third === 0 || third === MAPPED);
  const isNat64 = first === NAT64 && second === 0 && third === 0;
  if (isIpv4 || isNat64) return isPrivateIpv4(fourth);
  if (first >>> 16 === SIX_TO_FOUR) return isPrivateIpv4((first << 16) | (second >>> 16));
  return first >>> 25 === UNIQUE_LOCAL || first >>> 23 === LOCAL_UNICAST;
}
