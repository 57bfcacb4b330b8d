import { readUint16, readUint32 } from '@weir/dns-wire';
import type { ClientAddress } from './client-address.js';
import { crc32c } from './crc32c.js';

/*
 * Header of the PROXY protocol, version 2 (HAProxy, "The PROXY protocol", §2.2). By it a load balancer tells who its client is:
 *
 *   0 signature, 12 bytes
 *  12 version (4 bits), command (4)   13 family (4), transport (4)   14 length of what follows (2)
 *  16 source address, destination address, source port (2), destination port (2)
 *     then type (1), length (2), value of each TLV
 */
const SIGNATURE = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10);
const FIXED_BYTES = 16;
/** More of TLVs than any balancer sends. */
const MAX_BYTES = 4096;

const LOCAL = 0x20;
const PROXY = 0x21;
/** Family and transport: none, then IPv4 and IPv6, each for streams and datagrams. A balancer may ask over UDP for a client of TCP. */
const UNSPECIFIED = 0x00;
const [IPV4_STREAM, IPV4_DATAGRAM, IPV6_STREAM, IPV6_DATAGRAM] = [0x11, 0x12, 0x21, 0x22];
/** Bytes of two addresses and two ports. */
const [IPV4_BYTES, IPV6_BYTES] = [12, 36];

const TLV_HEADER_BYTES = 3;
const TLV_CRC32C = 0x03;
const CRC32C_BYTES = 4;

/** What `readProxyHeader` answers beside a length. */
export const BAD_PROXY_HEADER = -1;
export const PARTIAL_PROXY_HEADER = 0;

/**
 * Reads the header that `bytes` begin with and sets `client`, unless it tells of none (LOCAL, AF_UNSPEC): then it keeps what it
 * was, the sender (decisions §8). TLVs are checked for their form, a checksum for its value; else they are skipped.
 * @returns the header's length; `PARTIAL_PROXY_HEADER` when what is there is right and more must come; `BAD_PROXY_HEADER`.
 */
export function readProxyHeader(bytes: Uint8Array, length: number, client: ClientAddress): number {
  if (!mayBeProxyHeader(bytes, length)) return BAD_PROXY_HEADER;
  if (length < FIXED_BYTES) return PARTIAL_PROXY_HEADER;
  const end = FIXED_BYTES + readUint16(bytes, 14);
  if (end > MAX_BYTES) return BAD_PROXY_HEADER;
  if (length < end) return PARTIAL_PROXY_HEADER;
  // Of LOCAL all the rest is to be ignored, the family too.
  if (bytes[12] === LOCAL) return end;
  const addressBytes = addressBytesOf(bytes[13]);
  const tlvs = FIXED_BYTES + addressBytes;
  if (bytes[12] !== PROXY || addressBytes < 0 || tlvs > end) return BAD_PROXY_HEADER;
  if (!areTlvsValid(bytes, tlvs, end)) return BAD_PROXY_HEADER;
  if (addressBytes === IPV4_BYTES) {
    client.setIpv4(readUint32(bytes, FIXED_BYTES), readUint16(bytes, FIXED_BYTES + 8));
  } else if (addressBytes === IPV6_BYTES) {
    client.setIpv6(bytes, FIXED_BYTES, readUint16(bytes, FIXED_BYTES + 32));
  }
  return end;
}

/** Whether the bytes are those of the signature as far as they go: a header, sound or not, or what can become one. */
export function mayBeProxyHeader(bytes: Uint8Array, length: number): boolean {
  const known = Math.min(length, SIGNATURE.length);
  for (let i = 0; i < known; i++) if (bytes[i] !== SIGNATURE[i]) return false;
  return true;
}

/** @returns −1 for what is no client of DNS (AF_UNIX) or not defined. */
function addressBytesOf(familyAndTransport: number): number {
  switch (familyAndTransport) {
    case UNSPECIFIED:
      return 0;
    case IPV4_STREAM:
    case IPV4_DATAGRAM:
      return IPV4_BYTES;
    case IPV6_STREAM:
    case IPV6_DATAGRAM:
      return IPV6_BYTES;
    default:
      return -1;
  }
}

/** Whether TLVs fill the rest of the header exactly, and the checksum among them, if any, is that of the header (§2.2.3). */
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
