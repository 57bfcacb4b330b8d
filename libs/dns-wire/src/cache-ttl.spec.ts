import { describe, expect, it } from 'vitest';
import { CacheKind, CacheTtl, freshnessSeconds, hasUsableRcode } from './cache-ttl.js';
import { parseResponse, Response } from './response.js';
import {
  concat,
  encodeMessage,
  opt,
  pointerTo,
  type TestMessage,
  wireName,
} from './testing/message.js';

const cacheTtl = new CacheTtl();
const response = new Response();

function parse(message: TestMessage): Response {
  const questions = [{ qname: wireName('www.example.com'), qtype: 1 }];
  const bytes = encodeMessage({ flags: 0x8180, questions, ...message });
  expect(parseResponse(bytes, bytes.length, response)).toBe(true);
  return response;
}

function read(message: TestMessage, qtype = 1) {
  cacheTtl.read(parse(message), qtype);
  return [cacheTtl.kind, cacheTtl.seconds];
}

const owner = pointerTo(12);
const a = (ttl: number) => ({ owner, type: 1, ttl, rdata: Uint8Array.of(192, 0, 2, 1) });
const cname = (ttl: number) => ({ owner, type: 5, ttl, rdata: wireName('edge.example.net') });
const soa = (ttl: number, minimum: number) => {
  const numbers = [1, 2, 3, 4, minimum].flatMap((n) => [n >>> 24, n >>> 16, n >>> 8, n]);
  const rdata = concat(wireName('ns.example.com'), wireName('host.example.com'), numbers);
  return { owner: pointerTo(16), type: 6, ttl, rdata };
};
const ns = { owner: pointerTo(16), type: 2, ttl: 60, rdata: wireName('ns.example.com') };

describe('CacheTtl', () => {
  it('is the lowest TTL of the answer and authority sections', () => {
    const answers = [cname(300), a(200)];
    expect(read({ answers })).toEqual([CacheKind.positive, 200]);
    expect(read({ answers, authorities: [ns] })).toEqual([CacheKind.positive, 60]);
    for (const ttl of [50, 0]) {
      const additionals = [a(ttl), opt(1232, 0)];
      expect(read({ answers, additionals })).toEqual([CacheKind.positive, 200]);
      const negative = { authorities: [soa(90, 90)], additionals };
      expect(read(negative)).toEqual([CacheKind.negative, 90]);
      expect(freshnessSeconds(parse(negative))).toBe(90);
    }
  });

  it.each([
    ['SOA TTL', soa(30, 600), 30],
    ['SOA minimum', soa(600, 40), 40],
    ['three hours', soa(90_000, 90_000), 10_800],
  ])('of a negative answer is limited by the %s (RFC 2308 §5)', (_, record, seconds) => {
    const negative = { authorities: [record] };
    expect(read({ ...negative, flags: 0x8183 })).toEqual([CacheKind.negative, seconds]);
    expect(read(negative)).toEqual([CacheKind.negative, seconds]);
  });

  it('treats a CNAME chain without a record of the type as NODATA', () => {
    const answers = [cname(20)];
    expect(read({ answers, authorities: [soa(30, 30)] })).toEqual([CacheKind.negative, 20]);
    expect(read({ answers })).toEqual([CacheKind.uncacheable, 0]);
    expect(read({ answers }, 5)).toEqual([CacheKind.positive, 20]);
  });

  it.each<[string, TestMessage]>([
    ['NXDOMAIN without SOA', { flags: 0x8183 }],
    ['NODATA without SOA', {}],
    ['a referral', { authorities: [ns] }],
    ['SERVFAIL', { flags: 0x8182, answers: [a(300)] }],
    ['REFUSED', { flags: 0x8185 }],
    ['a truncated answer', { flags: 0x8380, answers: [a(300)] }],
    ['a TTL of 0', { answers: [a(300), a(0)] }],
    ['a negative TTL (RFC 2181 §8)', { answers: [a(0xffff_ffff)] }],
    ['a SOA minimum of 0', { flags: 0x8183, authorities: [soa(300, 0)] }],
    ['a negative SOA minimum', { flags: 0x8183, authorities: [soa(300, 0x8000_0000)] }],
    [
      'a SOA too short to have a minimum',
      { authorities: [{ ...soa(300, 300), rdata: new Uint8Array(21) }] },
    ],
  ])('does not cache %s', (_, message) => {
    expect(read(message)).toEqual([CacheKind.uncacheable, 0]);
  });

  it('has no limit of its own for a positive answer', () => {
    expect(read({ answers: [a(0x7fff_ffff)] })).toEqual([CacheKind.positive, 0x7fff_ffff]);
  });
});

describe('freshnessSeconds', () => {
  it('is the lowest TTL of the answer section', () => {
    expect(freshnessSeconds(parse({ answers: [cname(300), a(200)] }))).toBe(200);
    expect(freshnessSeconds(parse({ answers: [a(200)], authorities: [ns] }))).toBe(200);
  });

  it('is that of a negative answer at the end of a chain', () => {
    const answers = [cname(300)];
    for (const flags of [0x8180, 0x8183]) {
      expect(freshnessSeconds(parse({ flags, answers, authorities: [soa(600, 40)] }))).toBe(40);
      expect(freshnessSeconds(parse({ flags, answers, authorities: [soa(30, 600)] }))).toBe(30);
      expect(freshnessSeconds(parse({ flags, answers, authorities: [soa(600, 0)] }))).toBe(0);
    }
  });

  it('is 0 for an error', () => {
    expect(freshnessSeconds(parse({ flags: 0x8182, answers: [a(300)] }))).toBe(0);
  });
});

describe('hasUsableRcode', () => {
  it.each([
    [0, true],
    [3, true],
    [2, false],
    [5, false],
  ])('is, for RCODE %i, %s (RFC 8767 §4)', (rcode, expected) => {
    expect(hasUsableRcode(parse({ flags: 0x8180 | rcode }))).toBe(expected);
  });
});
