import type { Ipv6Words } from '@weir/config-model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIpv4, formatIpv6, maskIpv4, maskIpv6, parseIpv4, parseIpv6 } from './addresses.js';

const word = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff_ffff }));
const anyWords = fc.tuple(word, word, word, word) as fc.Arbitrary<Ipv6Words>;

/** The URL parser of the platform writes addresses as RFC 5952 does. */
const canonical = (text: string) => new URL(`http://[${text}]/`).hostname.slice(1, -1);

const bitsOf = (words: Ipv6Words) => words.map((w) => w.toString(2).padStart(32, '0')).join('');
const full = (words: Ipv6Words) =>
  words
    .flatMap((w) => [w >>> 16, w & 0xffff])
    .map((group) => group.toString(16))
    .join(':');

describe('parseIpv6', () => {
  it.each([
    ['::', [0, 0, 0, 0]],
    ['::1', [0, 0, 0, 1]],
    ['2001:db8::', [0x20010db8, 0, 0, 0]],
    ['2001:DB8:0:0:8:800:200C:417A', [0x20010db8, 0, 0x00080800, 0x200c417a]],
    ['2001:db8::192.0.2.1', [0x20010db8, 0, 0, 0xc0000201]],
    ['::192.0.2.1', [0, 0, 0, 0xc0000201]],
    ['1:2:3:4:5:6:7::', [0x00010002, 0x00030004, 0x00050006, 0x00070000]],
  ])('reads %s', (text, words) => {
    expect(parseIpv6(text)).toEqual(words);
  });

  it.each([
    '',
    ':',
    ':::',
    '1::2::3',
    '2001:db8',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    'fe80::1%eth0',
    '192.0.2.1',
    '::ffff:192.0.2.1',
    '::ffff:c000:201',
    '0:0:0:0:0:FFFF:192.0.2.1',
    '[::1]',
    '::1/64',
    '::192.0.2.01',
    '2001:db8::0x10.0.2.1',
  ])('rejects %j', (text) => {
    expect(parseIpv6(text)).toBeNull();
  });
});

describe('formatIpv6', () => {
  it('writes the form of RFC 5952', () => {
    fc.assert(
      fc.property(anyWords, (words) => {
        expect(formatIpv6(words)).toBe(canonical(full(words)));
      }),
    );
  });

  it('shortens the first of the longest runs of zeros, but never a single group (RFC 5952 §4.2)', () => {
    expect(formatIpv6([0x20010000, 0x00000001, 0, 0x00000001])).toBe('2001:0:0:1::1');
    expect(formatIpv6([0x20010db8, 0x00010000, 0x00010001, 0x00010001])).toBe(
      '2001:db8:1:0:1:1:1:1',
    );
  });

  it('is the inverse of parseIpv6', () => {
    fc.assert(
      fc.property(anyWords, (words) => {
        const mapped = words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
        expect(parseIpv6(formatIpv6(words))).toEqual(mapped ? null : words);
      }),
    );
  });
});

describe('maskIpv6', () => {
  it('clears all bits after the prefix', () => {
    fc.assert(
      fc.property(anyWords, fc.integer({ min: 0, max: 128 }), (words, length) => {
        const masked = bitsOf(maskIpv6(words, length));
        expect(masked).toBe(bitsOf(words).slice(0, length).padEnd(128, '0'));
      }),
    );
  });
});

const anyAddress = fc.integer({ min: 0, max: 0xffff_ffff });

describe('parseIpv4', () => {
  it('reads four decimal parts as one big-endian integer', () => {
    expect(parseIpv4('192.0.2.1')).toBe(3221225985);
    expect(parseIpv4('0.0.0.0')).toBe(0);
    expect(parseIpv4('255.255.255.255')).toBe(4294967295);
  });

  it('reads what formatIpv4 writes', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(parseIpv4(formatIpv4(address))).toBe(address);
      }),
    );
  });

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4 ',
    '1.2.3.-4',
    '1.2.3.',
  ])('rejects %j', (text) => {
    expect(parseIpv4(text)).toBeNull();
  });
});

describe('maskIpv4', () => {
  it('clears all bits after the prefix', () => {
    fc.assert(
      fc.property(anyAddress, fc.integer({ min: 0, max: 32 }), (address, length) => {
        const bits = address.toString(2).padStart(32, '0');
        const masked = bits.slice(0, length).padEnd(32, '0');
        expect(maskIpv4(address, length)).toBe(Number.parseInt(masked, 2));
      }),
    );
  });
});
