import { concat } from '@weir/dns-wire/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientAddress } from '@weir/policy';
import {
  BAD_PROXY_HEADER,
  canBeProxyHeader,
  PARTIAL_PROXY_HEADER,
  readProxyHeader,
} from './proxy-header.js';
import {
  checkedProxyHeader,
  proxyHeader,
  type TestProxyHeader,
  tlv,
} from './testing/proxy-header.js';

const SENDER = { family: 4, words: [0x7f00_0001, 0, 0, 0], port: 9 };

function read(bytes: Uint8Array, length = bytes.length) {
  const client = new ClientAddress();
  client.set('127.0.0.1', 9);
  const result = readProxyHeader(bytes, length, client);
  const { family, port } = client;
  return { result, client: { family, words: [...client.words], port } };
}

describe('readProxyHeader', () => {
  it.each<[string, TestProxyHeader, number, object]>([
    ['IPv4', { source: 'c0000201' }, 28, { family: 4, words: [0xc000_0201, 0, 0, 0] }],
    ['IPv4, stream', { source: 'c0000201', family: 0x11 }, 28, { family: 4 }],
    ['IPv6', { source: '20010db8000000000000000000000007' }, 52, { family: 6, words: [0x2001_0db8, 0, 0, 7] }],
    ['IPv6, stream', { source: '20010db8000000000000000000000007', family: 0x21 }, 52, { family: 6 }],
    [
      'IPv4-mapped IPv6 (decisions §8)',
      { source: '00000000000000000000ffffc0000201' },
      52,
      { family: 4, words: [0xc000_0201, 0, 0, 0] },
    ],
    ['with TLVs', { source: 'c0000201', tlvs: concat(tlv(4, []), tlv(0xe0, [1, 2, 3])) }, 37, { family: 4 }],
  ])('reads %s', (_, header, length, client) => {
    const bytes = proxyHeader({ port: 60_000, ...header });
    expect(read(concat(bytes, [1, 2, 3]))).toMatchObject({ result: length, client: { ...client, port: 60_000 } });
  }); // oxfmt-ignore

  it.each<[string, TestProxyHeader]>([
    ['LOCAL', { command: 0x20, source: 'c0000201' }],
    ['LOCAL, whatever its family', { command: 0x20, family: 0x7f }],
    ['an unspecified family', {}],
    ['an unspecified family with more behind it', { tlvs: tlv(0xe0, [1]) }],
  ])('leaves the sender as the client after %s (decisions §8)', (_, header) => {
    const bytes = proxyHeader(header);
    expect(read(bytes)).toEqual({ result: bytes.length, client: SENDER });
  });

  it.each<[string, TestProxyHeader]>([
    ['version 1', { source: 'c0000201', command: 0x11 }],
    ['an unknown command', { source: 'c0000201', command: 0x22 }],
    ['a UNIX socket', { family: 0x31, tlvs: new Uint8Array(216) }],
    ['an unspecified transport', { source: 'c0000201', family: 0x10 }],
    ['IPv6 of an IPv4 address’s size', { source: 'c0000201', family: 0x22 }],
    ['a TLV that runs over the end', { source: 'c0000201', tlvs: Uint8Array.of(4, 0, 1) }],
    ['half a TLV', { source: 'c0000201', tlvs: Uint8Array.of(4, 0) }],
    ['a checksum of two bytes', { source: 'c0000201', tlvs: tlv(3, [0, 0]) }],
    ['a checksum over the end', { source: 'c0000201', tlvs: Uint8Array.of(3, 0, 4, 0) }],
    ['a wrong checksum', { source: 'c0000201', tlvs: tlv(3, [0, 0, 0, 0]) }],
    ['more than 4096 bytes', { source: 'c0000201', tlvs: tlv(4, Array.from({ length: 4090 }, () => 0)) }],
  ])('refuses %s', (_, header) => {
    expect(read(proxyHeader(header))).toEqual({ result: BAD_PROXY_HEADER, client: SENDER });
  }); // oxfmt-ignore

  it('verifies a checksum over the whole header', () => {
    const bytes = checkedProxyHeader({ source: 'c0000201', tlvs: tlv(0xe0, [1, 2]) });
    expect(read(bytes).result).toBe(bytes.length);
    const typeAt = bytes.length - 7;
    for (let i = 16; i < bytes.length; i++) {
      if (i === typeAt) continue;
      const damaged = Uint8Array.from(bytes);
      damaged[i] ^= 0x10;
      expect(read(damaged).result, `byte ${i}`).toBe(BAD_PROXY_HEADER);
    }
  });

  it('needs more bytes at every cut, and rejects a wrong signature at its first wrong byte', () => {
    const bytes = proxyHeader({ source: 'c0000201', tlvs: tlv(4, [0]) });
    for (let length = 0; length < bytes.length; length++) {
      expect(read(bytes, length)).toEqual({ result: PARTIAL_PROXY_HEADER, client: SENDER });
    }
    for (let i = 0; i < 12; i++) {
      const damaged = Uint8Array.from(bytes);
      damaged[i] ^= 1;
      expect(read(damaged, i + 1).result).toBe(BAD_PROXY_HEADER);
    }
  });

  it('reads nothing after the length, whatever the bytes are', () => {
    const header = fc.record({
      source: fc.constantFrom('', 'c0000201', '20010db8000000000000000000000007'),
      tlvs: fc.uint8Array({ maxLength: 20 }),
    });
    fc.assert(
      fc.property(header, fc.nat(80), fc.nat(60), fc.nat(255), (built, length, at, byte) => {
        const bytes = new Uint8Array(200).fill(byte);
        bytes.set(proxyHeader(built));
        bytes[at] = byte;
        const { result } = read(bytes, length);
        expect(result).toBeLessThanOrEqual(length);
        expect(read(bytes.slice(0, length)).result).toBe(result);
      }),
    );
  });
});

describe('canBeProxyHeader', () => {
  it('is true for every start of a header, valid or not, and for nothing else', () => {
    const bytes = proxyHeader({ source: 'c0000201', command: 0x2f });
    for (let length = 0; length <= bytes.length; length++) {
      expect(canBeProxyHeader(bytes, length)).toBe(true);
    }
    for (let i = 0; i < 12; i++) {
      const damaged = Uint8Array.from(bytes);
      damaged[i] ^= 1;
      expect(canBeProxyHeader(damaged, i)).toBe(true);
      expect(canBeProxyHeader(damaged, i + 1)).toBe(false);
    }
  });
});
