import { readUint16, readUint32 } from '@weir/dns-wire';
import type { ClientAddress } from '@weir/policy';

/** CRC-32C (Castagnoli), reflected (RFC 9260 appendix A). */
const POLYNOMIAL = 0x82f6_3b78;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) {
    remainder = (remainder >>> 1) ^ ((remainder & 1) === 0 ? 0 : POLYNOMIAL);
  }
  return remainder;
});

/**
 * The checksum of the first `length` bytes. The four bytes at `zeroAt` count as zero: they are the checksum itself.
 */
export function crc32c(bytes: Uint8Array, length: number, zeroAt: number): number {
  let remainder = -1;
  for (let i = 0; i < length; i++) {
    const byte = i >= zeroAt && i < zeroAt + 4 ? 0 : bytes[i];
    remainder = TABLE[(remainder ^ byte) & 0xff] ^ (remainder >>> 8);
  }
  return ~remainder >>> 0;
}

/*
 * Header of the PROXY protocol, version 2 (HAProxy, "The PROXY protocol", §2.2), by which a load balancer passes on
 * the address of its client:
 *
 *    0 signature, 12 bytes
 *   12 version (4 bits), command (4)   13 family (4), transport (4)   14 length of the rest (2)
 *   16 source address, destination address, source port (2), destination port (2)
 *      then type (1), length (2), value of each TLV
 */
const SIGNATURE = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10);
const FIXED_BYTES = 16;
/** Maximum size of a header: more TLVs than any load balancer sends. */
const MAX_BYTES = 4096;

const LOCAL = 0x20;
const PROXY = 0x21;
/** Size of two addresses and two ports. */
const [IPV4_BYTES, IPV6_BYTES] = [12, 36];
/**
 * The size by family and transport: none, then IPv4 and IPv6, each for streams and datagrams. A load balancer may use
 * UDP for a client of TCP. A DNS client can have no other family (AF_UNIX).
 */
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([
  [0x00, 0],
  [0x11, IPV4_BYTES],
  [0x12, IPV4_BYTES],
  [0x21, IPV6_BYTES],
  [0x22, IPV6_BYTES],
]);

const TLV_HEADER_BYTES = 3;
const TLV_CRC32C = 0x03;
const CRC32C_BYTES = 4;

/** Results of `readProxyHeader` other than a length. */
export const BAD_PROXY_HEADER = -1;
export const PARTIAL_PROXY_HEADER = 0;

/**
 * Parses the header at the start of `bytes` and sets `client`. A header without a client (LOCAL, AF_UNSPEC) leaves
 * `client` as it is: the sender (decisions §8). TLVs must be well formed and a checksum correct; otherwise they are
 * skipped.
 * @returns the length of the header; `PARTIAL_PROXY_HEADER` when more bytes are needed; `BAD_PROXY_HEADER`
 */
export function readProxyHeader(bytes: Uint8Array, length: number, client: ClientAddress): number {
  if (!canBeProxyHeader(bytes, length)) return BAD_PROXY_HEADER;
  if (length < FIXED_BYTES) return PARTIAL_PROXY_HEADER;
  const end = FIXED_BYTES + readUint16(bytes, 14);
  if (end > MAX_BYTES) return BAD_PROXY_HEADER;
  if (length < end) return PARTIAL_PROXY_HEADER;
  // LOCAL: the rest is ignored, including the family.
  if (bytes[12] === LOCAL) return end;
  const addressBytes = ADDRESS_BYTES.get(bytes[13]);
  if (bytes[12] !== PROXY || addressBytes === undefined) return BAD_PROXY_HEADER;
  const tlvs = FIXED_BYTES + addressBytes;
  if (tlvs > end) return BAD_PROXY_HEADER;
  if (!areTlvsValid(bytes, tlvs, end)) return BAD_PROXY_HEADER;
  if (addressBytes === IPV4_BYTES) {
    client.setIpv4(readUint32(bytes, FIXED_BYTES), readUint16(bytes, FIXED_BYTES + 8));
  } else if (addressBytes === IPV6_BYTES) {
    client.setIpv6(bytes, FIXED_BYTES, readUint16(bytes, FIXED_BYTES + 32));
  }
  return end;
}

/** Whether the bytes match the signature so far: they are the start of a header, valid or not. */
export function canBeProxyHeader(bytes: Uint8Array, length: number): boolean {
  const known = Math.min(length, SIGNATURE.length);
  for (let i = 0; i < known; i++) if (bytes[i] !== SIGNATURE[i]) return false;
  return true;
}

/** Whether the TLVs fill the rest of the header exactly, and the checksum, if there is one, is correct (§2.2.3). */
function areTlvsValid(bytes: Uint8Array, tlvs: number, end: number): boolean {
  let at = tlvs;
  while (at + TLV_HEADER_BYTES <= end) {
    const value = at + TLV_HEADER_BYTES;
    const valueBytes = readUint16(bytes, at + 1);
    if (bytes[at] === TLV_CRC32C) {
      if (valueBytes !== CRC32C_BYTES || value + CRC32C_BYTES > end) return false;
      if (crc32c(bytes, end, value) !== readUint32(bytes, value)) return false;
    }
    at = value + valueBytes;
  }
  return at === end;
}
