import { describe, expect, it } from 'vitest';
import { crc32c } from './proxy-header.js';

const NOWHERE = -4;

describe('crc32c', () => {
  it.each([
    // The check value of the CRC catalogue, and RFC 3720 appendix B.4.
    [Buffer.from('123456789'), 0xe306_9283],
    [Buffer.alloc(32), 0x8a91_36aa],
    [Buffer.alloc(32, 0xff), 0x62a8_ab43],
    [Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd_794e],
  ])('returns the published checksum of published bytes', (bytes, sum) => {
    expect(crc32c(bytes, bytes.length, NOWHERE)).toBe(sum);
  });

  it('treats four bytes as zero', () => {
    const bytes = Buffer.alloc(32);
    bytes.fill(7, 9, 13);
    expect(crc32c(bytes, 32, 9)).toBe(0x8a91_36aa);
  });
});
