import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHashKey } from './hash-key.js';
import { SipHash } from './sip-hash.js';
import { startOfSip } from './sip-state.js';
import { instantiateSip, Layout } from './sip-module.js';
import { sipHashReference } from './testing/sip-hash-reference.js';

/** Messages 00, 00 01, 00 01 02 … under the key 00 01 … 0f: output bytes, from the reference implementation's vectors.h. */
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

  it.each([...PUBLISHED.entries(), [63, PUBLISHED_63] as const])(
    'in pairs of words gives the published output for %i bytes',
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

  it('in pairs of words agrees with 64-bit arithmetic', () => {
    const key = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(key, fc.uint8Array({ maxLength: 255 }), (keyBytes, message) => {
        const sip = new SipHash(parseHashKey(Buffer.from(keyBytes).toString('hex')));
        sip.hash(message, message.length);
        const hash = (BigInt(sip.high >>> 0) << 32n) | BigInt(sip.low >>> 0);
        expect(hash).toBe(sipHashReference(message, keyBytes));
      }),
    );
  });

  it('as a module gives the published outputs for 1, 3, 7, 15 and 63 bytes', () => {
    // Read as labels, the message 00 01 02 … is one of 0 bytes, one of 1 (01 02), one of 3 (03 04 05 06), and so on.
    const starts = [0, 1, 3, 7, 15, 31];
    const { memory, hashSuffixes } = instantiateSip();
    const bytes = new Uint8Array(memory);
    bytes.set(
      Array.from({ length: 63 }, (_, i) => i),
      Layout.name,
    );
    bytes.set(starts.toReversed(), Layout.labelOffsets);
    const key = parseHashKey(Buffer.from(KEY_BYTES).toString('hex'));
    new Int32Array(memory, Layout.start).set(startOfSip(key));
    hashSuffixes(starts.length);
    const view = new DataView(memory);
    const hashOf = (suffix: number): bigint => {
      const high = BigInt(view.getUint32(Layout.high + suffix * 4, true));
      return (high << 32n) | BigInt(view.getUint32(Layout.low + suffix * 4, true));
    };
    expect([0, 1, 2, 3].map(hashOf)).toEqual([1, 3, 7, 15].map((n) => fromHex(PUBLISHED[n])));
    expect(hashOf(5)).toBe(fromHex(PUBLISHED_63));
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
