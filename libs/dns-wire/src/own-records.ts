import { copyBytes, writeUint16, writeUint32 } from './bytes.js';
import { NAME_POINTER, RECORD_FIXED_BYTES } from './protocol.js';

/**
 * What a record has between its owner and its rdata.
 * @param at offset after the owner
 * @returns the offset of the rdata
 */
export function writeFixedPart(
  out: Uint8Array,
  at: number,
  type: number,
  recordClass: number,
  ttlSeconds: number,
  rdataBytes: number,
): number {
  writeUint16(out, at, type);
  writeUint16(out, at + 2, recordClass);
  writeUint32(out, at + 4, ttlSeconds);
  writeUint16(out, at + 8, rdataBytes);
  return at + RECORD_FIXED_BYTES;
}

/** Rest of an SOA record: RNAME `nobody.invalid`, serial 1, refresh 3600, retry 1200, expire 604800 (RFC 6303 §3). */
// oxfmt-ignore
const SOA_REST = Uint8Array.of(
  6, 0x6e, 0x6f, 0x62, 0x6f, 0x64, 0x79, 7, 0x69, 0x6e, 0x76, 0x61, 0x6c, 0x69, 0x64, 0,
  0, 0, 0, 1, 0, 0, 0x0e, 0x10, 0, 0, 0x04, 0xb0, 0, 0x09, 0x3a, 0x80,
);
const POINTER_BYTES = 2;
const MINIMUM_BYTES = 4;

/** Size of the rdata that `writeSoaRdata` writes. */
export const SOA_BYTES = POINTER_BYTES + SOA_REST.length + MINIMUM_BYTES;

/**
 * The rdata of the SOA record of an empty zone: the zone itself as MNAME, `nobody.invalid` as RNAME (RFC 6303 §3).
 * @param zoneOffset offset of the name of the zone in the message
 */
export function writeSoaRdata(
  out: Uint8Array,
  at: number,
  zoneOffset: number,
  minimumSeconds: number,
): void {
  writeUint16(out, at, NAME_POINTER | zoneOffset);
  copyBytes(SOA_REST, 0, out, at + POINTER_BYTES, SOA_REST.length);
  writeUint32(out, at + SOA_BYTES - MINIMUM_BYTES, minimumSeconds);
}
