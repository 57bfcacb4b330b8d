import { describe, expect, it } from 'vitest';
import { parseQuery, Query } from './query.js';
import { MAX_UPSTREAM_QUERY_BYTES, writeUpstreamQuery } from './forwarding.js';
import { decodeMessage, encodeMessage, encodeQuery } from './testing/index.js';
import { headerErrorOf, NO_HEADER_ERROR, removeEdns } from './without-edns.js';

const errorOf = (packet: Uint8Array): number => headerErrorOf(packet, packet.length);

describe('headerErrorOf', () => {
  it.each([1, 4])('finds RCODE %i in a reply that is only a header', (rcode) => {
    expect(errorOf(encodeMessage({ id: 7, flags: 0x8180 | rcode }))).toBe(rcode);
  });

  it('finds none in a query, in another error, in another opcode, or in a reply with a question', () => {
    expect(errorOf(encodeMessage({ flags: 0x0101 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0x8182 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0x8180 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0xa981 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeQuery('example.com', 1, { flags: 0x8181 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(Uint8Array.of(0, 1, 0x81, 0x81))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0x8181 }).with(5, 1))).toBe(NO_HEADER_ERROR);
  });
});

describe('removeEdns', () => {
  it('leaves the question and the flags of an upstream query', () => {
    const asked = encodeQuery('www.example.com', 28, { udpBytes: 1232 });
    const query = new Query();
    parseQuery(asked, asked.length, query);
    const out = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
    const length = removeEdns(out, writeUpstreamQuery(out, asked, query, 9));
    expect(decodeMessage(out.slice(0, length))).toMatchObject({
      id: 9,
      questions: [{ qname: 'www.example.com', qtype: 28 }],
      additionals: [],
      trailing: 0,
    });
  });
});
