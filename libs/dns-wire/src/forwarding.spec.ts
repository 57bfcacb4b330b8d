import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeForwardedAnswer } from './forwarding.js';
import { parseQuery, Query, QueryStatus } from './query.js';
import { parseResponse, Response } from './response.js';
import { decodeMessage } from './testing/decode.js';
import {
  concat,
  encodeMessage,
  encodeQuery,
  hexOf,
  opt,
  option,
  pointerTo,
  wireName,
  type TestMessage,
} from './testing/message.js';
import { MAX_UPSTREAM_QUERY_BYTES, writeUpstreamQuery } from './upstream-query.js';
import { damaged, responseMessage } from './testing/mutations.js';

const query = new Query();
const response = new Response();
const out = new Uint8Array(65535);
const NO_CAP = 0x7fff_ffff;

const question = { qname: wireName('www.example.com'), qtype: 1 };
const address = (ttl: number) => ({
  owner: pointerTo(12),
  type: 1,
  ttl,
  rdata: Uint8Array.of(192, 0, 2, 1),
});

function forward(asked: Uint8Array, answered: TestMessage, limit = 1232, cap = NO_CAP) {
  parseQuery(asked, asked.length, query);
  const upstream = encodeMessage({ questions: [question], flags: 0x8180, ...answered });
  const before = hexOf(upstream);
  expect(parseResponse(upstream, upstream.length, response)).toBe(true);
  const bytes = out.slice(0, writeForwardedAnswer(out, response, asked, query, limit, cap));
  expect(hexOf(upstream)).toBe(before);
  return { bytes, ...decodeMessage(bytes) };
}

describe('writeUpstreamQuery', () => {
  it('asks in the client’s case with an id, EDNS size and DO, byte for byte', () => {
    const asked = encodeQuery('WwW.example.com', 1, {
      flags: 0x0130,
      udpBytes: 4096,
      ednsTtl: 0x8000,
    });
    parseQuery(asked, asked.length, query);
    const length = writeUpstreamQuery(out, asked, query, 0xabcd);
    expect(hexOf(out.subarray(0, length))).toBe(
      'abcd01300001000000000001035777570765786' +
        '16d706c6503636f6d000001000100002904d0000080000000',
    );
  });

  it('omits everything else of the query', () => {
    const cookie = opt(1232, 0, option(10, [1, 2, 3, 4, 5, 6, 7, 8]));
    const asked = encodeMessage({ flags: 0x0340, questions: [question], additionals: [cookie] });
    parseQuery(asked, asked.length, query);
    const length = writeUpstreamQuery(out, asked, query, 1);
    expect(parseQuery(out, length, new Query())).toBe(QueryStatus.ok);
    expect(decodeMessage(out.slice(0, length))).toMatchObject({ flags: 0x0120, opt: { ttl: 0 } });
    expect(decodeMessage(out.slice(0, length)).opt?.rdata).toHaveLength(0);
  });

  it('fits its size limit with the longest name', () => {
    const name = [1, 2, 3].map((n) => String(n).repeat(63)).join('.') + '.' + '4'.repeat(61);
    const asked = encodeQuery(name, 1);
    parseQuery(asked, asked.length, query);
    expect(writeUpstreamQuery(out, asked, query, 1)).toBeLessThan(MAX_UPSTREAM_QUERY_BYTES);
  });
});

describe('writeForwardedAnswer', () => {
  const plain = encodeQuery('www.EXAMPLE.com', 1, { id: 0x4242 });
  const edns = encodeQuery('www.EXAMPLE.com', 1, { id: 0x4242, udpBytes: 1232, ednsTtl: 0x8000 });

  it('restores id and case, and removes OPT for a client without EDNS', () => {
    const answered = forward(plain, { answers: [address(300)], additionals: [opt(512)] });
    expect(answered).toMatchObject({
      id: 0x4242,
      flags: 0x8180,
      questions: [{ qname: 'www.EXAMPLE.com' }],
      answers: [{ owner: 'www.EXAMPLE.com', ttl: 300 }],
      additionals: [],
      trailing: 0,
    });
  });

  it('writes a new OPT record for a client with EDNS, with the Extended DNS Error of the upstream', () => {
    const theirs = opt(
      4096,
      0,
      concat(option(10, [1, 2, 3, 4, 5, 6, 7, 8]), option(15, [0, 6, 0x78])),
    );
    const answered = forward(edns, { flags: 0x8182, additionals: [theirs] });
    expect(answered).toMatchObject({ rcode: 2, ede: [6], opt: { class: 1232, ttl: 0x8000 } });
    expect(answered.opt?.rdata).toHaveLength(6);
  });

  it('writes an OPT record even when the upstream sent none', () => {
    expect(forward(edns, { answers: [address(1)] })).toMatchObject({
      opt: { class: 1232 },
      ede: [],
    });
  });

  it('shows AD only to a client that asked for it (RFC 6840 §5.8)', () => {
    const answered = { flags: 0x81a0, answers: [address(1)] };
    expect(forward(plain, answered).flags).toBe(0x8180);
    expect(forward(edns, answered).flags).toBe(0x81a0);
    const asksAd = encodeQuery('www.example.com', 1, { flags: 0x0120 });
    expect(forward(asksAd, answered).flags).toBe(0x81a0);
    expect(forward(plain, { flags: 0x8580 }).flags).toBe(0x8180);
  });

  it('restores RD and CD', () => {
    const asked = encodeQuery('www.example.com', 1, { flags: 0x0010 });
    expect(forward(asked, { flags: 0x8180 }).flags).toBe(0x8090);
  });

  it('caps the TTLs of all sections', () => {
    const soa = { owner: pointerTo(16), type: 6, ttl: 900, rdata: new Uint8Array(22) };
    const answered = forward(
      edns,
      {
        answers: [address(59), address(60), address(61), address(0xffff_ffff)],
        authorities: [soa],
        additionals: [address(3600), opt(1232)],
      },
      1232,
      60,
    );
    expect(answered.answers.map(({ ttl }) => ttl)).toEqual([59, 60, 60, 0]);
    expect(answered.authorities[0].ttl).toBe(60);
    expect(answered.additionals.map(({ ttl }) => ttl)).toEqual([60, 0x8000]);
  });

  it('truncates an answer that is one byte over the limit', () => {
    const many = { answers: Array.from({ length: 20 }, () => address(1)) };
    const size = forward(edns, many).bytes.length;
    expect(forward(edns, many, size)).toMatchObject({ flags: 0x8180 });
    const cut = forward(edns, many, size - 1);
    expect(cut).toMatchObject({ flags: 0x8380, answers: [], opt: { class: 1232 } });
    expect(forward(plain, many, 300)).toMatchObject({ flags: 0x8380, additionals: [] });
  });

  it('leaves out the Extended DNS Error where it is all that does not fit (RFC 8914 §3)', () => {
    const answers = Array.from({ length: 20 }, () => address(1));
    const stale = { answers, additionals: [opt(4096, 0, option(15, [0, 3]))] };
    const size = forward(edns, stale).bytes.length;
    expect(forward(edns, stale, size)).toMatchObject({ flags: 0x8180, ede: [3] });
    const without = forward(edns, stale, size - 1);
    expect(without).toMatchObject({ flags: 0x8180, ede: [] });
    expect(without.answers).toHaveLength(20);
    expect(forward(edns, stale, size - 7)).toMatchObject({ flags: 0x8380, answers: [] });
  });

  describe('with an answer that does not fit whole', () => {
    const owner = pointerTo(12);
    const record = (type: number) => ({ owner, type, ttl: 60, rdata: new Uint8Array(30) });
    const [ns, soa, rrsig, nsec, nsec3, ds] = [2, 6, 46, 47, 50, 43].map(record);
    const answers = Array.from({ length: 10 }, () => address(60));
    const additionals = Array.from({ length: 10 }, () => address(60));
    const whole = forward(edns, { answers }).bytes.length;

    it('leaves out additional records, without TC (RFC 2181 §9)', () => {
      const authorities = [soa];
      const limit = forward(edns, { answers, authorities }).bytes.length;
      const message = { answers, authorities, additionals };
      for (const asked of [edns, plain]) {
        const cut = forward(asked, message, limit);
        expect(cut).toMatchObject({ flags: 0x8180, authorities: [{ type: 6 }], trailing: 0 });
        expect(cut.answers).toHaveLength(10);
        expect(cut.additionals).toHaveLength(asked === edns ? 1 : 0);
      }
      expect(forward(edns, message, limit - 1)).toMatchObject({ flags: 0x8380, answers: [] });
    });

    it('then leaves out the name servers of the zone, with their signature', () => {
      const cut = forward(edns, { answers, authorities: [ns, ns, rrsig], additionals }, whole);
      expect(cut).toMatchObject({ flags: 0x8180, authorities: [], opt: { class: 1232 } });
      expect(cut.answers).toHaveLength(10);
      expect(cut.trailing).toBe(0);
      const short = forward(edns, { answers, authorities: [ns], additionals }, whole - 1);
      expect(short).toMatchObject({ flags: 0x8380, answers: [], authorities: [] });
    });

    it.each([soa, nsec, nsec3, ds])(
      'sets TC before it leaves out a proof in the authority section',
      (proof) => {
        const message = { answers, authorities: [ns, proof], additionals };
        expect(forward(edns, message, whole)).toMatchObject({ flags: 0x8380, answers: [] });
      },
    );

    it('sets TC when the authority section is all that it has', () => {
      const message = { authorities: Array.from({ length: 20 }, () => ns), additionals };
      expect(forward(edns, message, 512)).toMatchObject({ flags: 0x8380, authorities: [] });
    });
  });

  it('keeps every record of 20,000 damaged responses, and its size limit', () => {
    let complete = 0;
    fc.assert(
      fc.property(
        damaged(responseMessage),
        fc.boolean(),
        fc.constantFrom(1, 60, NO_CAP),
        (upstream, hasEdns, cap) => {
          if (!parseResponse(upstream, upstream.length, response)) return;
          const theirs = decodeMessage(upstream, { followPointers: false });
          const asked = encodeMessage({
            id: 9,
            flags: 0x0100,
            questions: theirs.questions.map((q) => ({
              ...q,
              qname: upstream.slice(12, theirs.questionEnd - 4),
            })),
            additionals: hasEdns ? [opt(1232)] : [],
          });
          parseQuery(asked, asked.length, query);
          const bytes = out.slice(0, writeForwardedAnswer(out, response, asked, query, 512, cap));
          expect(bytes.length).toBeLessThanOrEqual(512);
          const ours = decodeMessage(bytes, { followPointers: false });
          expect(ours.trailing).toBe(0);
          expect(ours.opt !== undefined).toBe(hasEdns);
          if ((ours.flags & 0x0200) !== 0 && ours.answers.length < theirs.answers.length) return;
          complete++;
          const capped = theirs.answers.map((record) => ({
            ...record,
            ttl: record.ttl > NO_CAP ? 0 : Math.min(record.ttl, cap),
          }));
          expect(ours.answers).toEqual(capped);
        },
      ),
      { numRuns: 20_000 },
    );
    expect(complete).toBeGreaterThan(2000);
  });
});
