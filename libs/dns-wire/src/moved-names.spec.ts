import { describe, expect, it } from 'vitest';
import { lengthenQuestion } from './moved-names.js';
import { writeForwardedAnswer } from './forwarding.js';
import { parseQuery, Query } from './query.js';
import { parseResponse, Response } from './response.js';
import { decodeMessage } from './testing/decode.js';
import {
  concat,
  encodeMessage,
  encodeQuery,
  hexOf,
  pointerTo,
  type TestRecord,
  wireName,
} from './testing/message.js';

const parent = { qname: wireName('example.com'), qtype: 1 };
const numbers = new Uint8Array(20);

function descend(authorities: readonly TestRecord[], name = 'a.bc.Example.com') {
  const packet = encodeMessage({ flags: 0x8183, questions: [parent], authorities });
  const bytes = concat(packet, new Uint8Array(600));
  const response = new Response();
  expect(parseResponse(bytes, packet.length, response)).toBe(true);
  const asked = encodeQuery(name, 28);
  const query = new Query();
  parseQuery(asked, asked.length, query);
  if (!lengthenQuestion(response, asked, query.questionEnd)) return null;
  const out = new Uint8Array(1024);
  return decodeMessage(
    out.slice(0, writeForwardedAnswer(out, response, asked, query, 1024, 2 ** 31 - 1)),
  );
}

describe('NXDOMAIN of a parent', () => {
  it('becomes the answer for a name below, with all its compression pointers', () => {
    // The owner is at the qname, MNAME begins with a label, and RNAME points into MNAME: 12 + 17 + 12 + 4.
    const mname = concat([2, 0x6e, 0x73], pointerTo(12));
    const soa = {
      owner: pointerTo(12),
      type: 6,
      ttl: 60,
      rdata: concat(mname, pointerTo(41), numbers),
    };
    const ns = { owner: pointerTo(20), type: 2, ttl: 70, rdata: pointerTo(41) };
    const nsec = {
      owner: wireName('x.example.com'),
      type: 47,
      ttl: 80,
      rdata: wireName('example.com'),
    };
    const answer = descend([soa, ns, nsec]);
    expect(answer).toMatchObject({
      rcode: 3,
      questions: [{ qname: 'a.bc.Example.com', qtype: 28 }],
      answers: [],
      authorities: [
        { owner: 'Example.com', type: 6, ttl: 60 },
        { owner: 'com', type: 2, ttl: 70 },
        { owner: 'x.example.com', type: 47, ttl: 80 },
      ],
      trailing: 0,
    });
    // The name is five bytes longer.
    expect(answer?.authorities.map(({ rdata }) => hexOf(rdata))).toEqual(
      [
        concat([2, 0x6e, 0x73], pointerTo(17), pointerTo(46), numbers),
        pointerTo(46),
        wireName('example.com'),
      ].map(hexOf),
    );
  });

  it('is not used with damaged records', () => {
    const owner = pointerTo(12);
    expect(descend([{ owner, type: 5, ttl: 1, rdata: pointerTo(2) }])).toBeNull();
    expect(descend([{ owner, type: 6, ttl: 1, rdata: Uint8Array.of(3, 1, 1) }])).toBeNull();
    expect(descend([{ owner, type: 6, ttl: 1, rdata: Uint8Array.of(0xc0) }])).toBeNull();
    expect(descend([{ owner, type: 2, ttl: 1, rdata: pointerTo(0x3fff) }])).toBeNull();
    // To the type of the question, and to the TTL of the record.
    expect(descend([{ owner, type: 2, ttl: 1, rdata: pointerTo(25) }])).toBeNull();
    expect(descend([{ owner, type: 2, ttl: 1, rdata: pointerTo(29 + 6) }])).toBeNull();
  });
});
