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
