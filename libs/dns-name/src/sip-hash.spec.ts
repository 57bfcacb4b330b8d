import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHashKey } from './sip-instance.js';
import { SipHash } from './suffix-hashes.js';
import { sipHashReference } from './testing/sip-hash-reference.js';

/** Output bytes for the messages of 0, 1, 2 … bytes 00 01 02 … under the key 00 01 … 0f: vectors.h of the reference. */
const PUBLISHED = [
  '310e0edd47db6f72',
  'fd67dc93c539f874',
  '5a4fa9d909806c0d',
  '2d7efbd796666785',
  'b7877127e09427cf',
  '8da699cd64557618',
  'cee3fe586e46c9cb',
  '37d1018bf50002ab',
  '6224939a79f5f593',
  'b0e4a90bdf82009e',
  'f3b9dd94c5bb5d7a',
  'a7ad6b22462fb3f4',
  'fbe50e86bc8f1e75',
  '903d84c02756ea14',
  'eef27a8e90ca23f7',
  'e545be4961ca29a1',
];
const KEY_BYTES = Uint8Array.from({ length: 16 }, (_, i) => i);

/** Published for 63 bytes. */
const PUBLISHED_63 = '724506eb4c328a95';

function fromHex(hex: string): bigint {
  return Buffer.from(hex, 'hex').readBigUInt64LE();
}

describe('SipHash-2-4', () => {
  it.each([...PUBLISHED.entries(), [63, PUBLISHED_63] as const])(
    'in 64-bit arithmetic gives the published output for %i bytes',
    (length, output) => {
      const message = Uint8Array.from({ length }, (_, i) => i);
      expect(sipHashReference(message, KEY_BYTES)).toBe(fromHex(output));
    },
  );

  it.each([...PUBLISHED.entries(), [63, PUBLISHED_63] as const].slice(1))(
    'in WebAssembly gives the published output for %i bytes',
    (length, output) => {
      const message = Uint8Array.from({ length: 80 }, (_, i) => i);
      const sip = new SipHash(parseHashKey(Buffer.from(KEY_BYTES).toString('hex')));
      sip.hash(message, length);
      const halves = Buffer.alloc(8);
      halves.writeInt32LE(sip.low, 0);
      halves.writeInt32LE(sip.high, 4);
      expect(halves.toString('hex')).toBe(output);
    },
  );

  it('in WebAssembly agrees with 64-bit arithmetic', () => {
    const key = fc.uint8Array({ minLength: 16, maxLength: 16 });
    const message = fc.uint8Array({ minLength: 1, maxLength: 255 });
    fc.assert(
      fc.property(key, message, (keyBytes, bytes) => {
        const sip = new SipHash(parseHashKey(Buffer.from(keyBytes).toString('hex')));
        sip.hash(bytes, bytes.length);
        const hash = (BigInt(sip.high >>> 0) << 32n) | BigInt(sip.low >>> 0);
        expect(hash).toBe(sipHashReference(bytes, keyBytes));
      }),
    );
  });

  it.each([0, 256])('refuses a message of %i bytes', (length) => {
    const sip = new SipHash(parseHashKey('00'.repeat(16)));
    expect(() => sip.hash(new Uint8Array(300), length)).toThrow(RangeError);
  });
});

describe('parseHashKey', () => {
  it('reads the digits as bytes in order, words little-endian', () => {
    const { words } = parseHashKey('000102030405060708090a0b0c0d0eFF');
    expect(Array.from(words, (word) => (word >>> 0).toString(16))).toEqual([
      '3020100',
      '7060504',
      'b0a0908',
      'ff0e0d0c',
    ]);
  });

  it.each(['', '00', 'g'.repeat(32), '0'.repeat(31), '0'.repeat(33)])('refuses %j', (hex) => {
    expect(() => parseHashKey(hex)).toThrow('a hash key is 32 hex digits');
  });
});
