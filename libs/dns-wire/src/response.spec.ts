import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeForwardedAnswer } from './forwarding.js';
import { parseQuery, Query } from './query.js';
import {
  answersQuestion,
  headerErrorOf,
  NO_HEADER_ERROR,
  parseResponse,
  parseTruncated,
  Response,
  setEmptyResponse,
} from './response.js';
import { decodeMessage, type DecodedMessage } from './testing/decode.js';
import {
  bytesOf,
  concat,
  encodeMessage,
  encodeQuery,
  opt,
  option,
  pointerTo,
  wireName,
} from './testing/message.js';
import { damaged, responseMessage } from './testing/mutations.js';

const response = new Response();
const parse = (bytes: Uint8Array) => parseResponse(bytes, bytes.length, response);
const question = { qname: wireName('example.com'), qtype: 1 };
const address = { owner: pointerTo(12), type: 1, ttl: 300, rdata: Uint8Array.of(192, 0, 2, 1) };

describe('parseResponse', () => {
  it('reads what a resolver answers', () => {
    const bytes = bytesOf(
      'beef 8180 0001 0001 0000 0001 076578616d706c65 03636f6d 00 0001 0001' +
        'c00c 0001 0001 0000012c 0004 c0000201 00 0029 04d0 0000 0000 0006 000f 0002 0006',
    );
    expect(parse(bytes)).toBe(true);
    expect(response).toMatchObject({
      id: 0xbeef,
      rcode: 0,
      questionEnd: 29,
      answerCount: 1,
      authorityCount: 0,
      additionalCount: 0,
      recordsEnd: 45,
      ede: 6,
      ttlCount: 1,
      isTruncated: false,
    });
  });

  it('adds the upper bits of the RCODE', () => {
    const message = { flags: 0x8187, questions: [question], additionals: [opt(1232, 0x0100_0000)] };
    expect(parse(encodeMessage(message))).toBe(true);
    expect(response.rcode).toBe(0x17);
  });

  it('ignores additional records after OPT', () => {
    const additionals = [address, opt(1232), address];
    expect(parse(encodeMessage({ flags: 0x8180, questions: [question], additionals }))).toBe(true);
    expect(response).toMatchObject({ additionalCount: 1, recordsEnd: 29 + 16, ttlCount: 1 });
  });

  it.each([
    ['a query', { flags: 0x0100, questions: [question] }],
    ['another opcode', { flags: 0xa180, questions: [question] }],
    ['no question', { flags: 0x8180, questions: [] }],
    ['a compressed question', { flags: 0x8180, questions: [{ qname: pointerTo(0), qtype: 1 }] }],
    ['two OPT records', { flags: 0x8180, questions: [question], additionals: [opt(1), opt(1)] }],
    ['OPT as an answer', { flags: 0x8180, questions: [question], answers: [opt(1232)] }],
  ])('rejects %s', (_, message) => {
    expect(parse(encodeMessage(message))).toBe(false);
  });

  it('rejects a response that is cut short', () => {
    const bytes = encodeMessage({
      flags: 0x8180,
      questions: [question],
      answers: [address],
      additionals: [opt(1232, 0, option(15, [0, 6]))],
    });
    for (let length = 0; length < bytes.length; length++) {
      expect(parseResponse(bytes, length, response)).toBe(false);
    }
    expect(parse(concat(bytes, [0]))).toBe(true);
  });

  it('agrees with a simple parser on 20,000 damaged responses, and never reads past their end', () => {
    const behind = new Uint8Array(2048);
    let valid = 0;
    fc.assert(
      fc.property(damaged(responseMessage), fc.nat(255), (bytes, filler) => {
        const expected = slowResponse(bytes);
        expect(parse(bytes) ? fieldsOf(response) : null).toEqual(expected);
        behind.fill(filler).set(bytes);
        const again = parseResponse(behind, bytes.length, response);
        expect(again ? fieldsOf(response) : null).toEqual(expected);
        if (expected !== null) valid++;
      }),
      { numRuns: 20_000 },
    );
    expect(valid).toBeGreaterThan(2000);
  });
});

describe('parseTruncated', () => {
  const message = {
    flags: 0x8380,
    questions: [question],
    answers: [address],
    additionals: [opt(1232, 0x0100_0000, option(10, Array(16).fill(0)))],
  };

  it('reads a truncated response without its records, wherever it ends', () => {
    const bytes = encodeMessage(message);
    for (let length = 0; length <= bytes.length; length++) {
      parse(bytes);
      expect(parseTruncated(bytes, length, response)).toBe(length >= 29);
    }
    expect(response).toMatchObject({ isTruncated: true, rcode: 0, questionEnd: 29 });
    expect(response).toMatchObject({ answerCount: 0, additionalCount: 0, ttlCount: 0 });
    expect(response).toMatchObject({ recordsEnd: 29, hasEdns: false, cookieAt: 0 });
  });

  it('rejects any other response', () => {
    const bytes = encodeMessage({ ...message, flags: 0x8180 });
    expect(parseTruncated(bytes, bytes.length, response)).toBe(false);
  });
});

describe('setEmptyResponse', () => {
  it('resets the fields of the previous response', () => {
    const answered = { owner: pointerTo(12), type: 1, ttl: 300, rdata: Uint8Array.of(1, 2, 3, 4) };
    expect(
      parse(encodeMessage({ flags: 0x8580, questions: [question], answers: [answered] })),
    ).toBe(true);
    const bytes = encodeQuery('www.example.org', 28);
    const query = new Query();
    parseQuery(bytes, bytes.length, query);
    setEmptyResponse(response, bytes, query, 2, 22);
    const out = new Uint8Array(512);
    const asked = encodeQuery('WWW.example.org', 28, { udpBytes: 1232 });
    parseQuery(asked, asked.length, query);
    const length = writeForwardedAnswer(out, response, asked, query, 512, 60);
    expect(decodeMessage(out.slice(0, length))).toMatchObject({
      flags: 0x8182,
      questions: [{ qname: 'WWW.example.org', qtype: 28 }],
      answers: [],
      ede: [22],
      trailing: 0,
    });
    expect(answersQuestion(response, asked, query)).toBe(true);
  });
});

describe('answersQuestion', () => {
  const query = new Query();
  const asked = encodeQuery('Www.Example.com', 1);
  const isAnswered = (bytes: Uint8Array) => {
    parseQuery(asked, asked.length, query);
    return parse(bytes) && answersQuestion(response, asked, query);
  };

  it('accepts the same question in any case (RFC 4343)', () => {
    expect(isAnswered(encodeQuery('wWW.eXAMPLE.com', 1, { flags: 0x8180 }))).toBe(true);
  });

  it.each([
    ['name', encodeQuery('wwx.example.com', 1, { flags: 0x8180 })],
    ['longer name', encodeQuery('www.example.com.example', 1, { flags: 0x8180 })],
    ['type', encodeQuery('www.example.com', 28, { flags: 0x8180 })],
    ['class', encodeQuery('www.example.com', 1, { flags: 0x8180, qclass: 3 })],
  ])('rejects another %s', (_, bytes) => {
    expect(isAnswered(bytes)).toBe(false);
  });

  it('ignores the case of letters only', () => {
    // @ and ` differ in the same bit as A and a
    expect(isAnswered(encodeQuery('Www.Example.co\x4d', 1, { flags: 0x8180 }))).toBe(true);
    expect(isAnswered(encodeQuery('Www\x0eExample.com', 1, { flags: 0x8180 }))).toBe(false);
  });
});

function fieldsOf(r: Response) {
  const { id, flags, rcode, questionEnd, answerCount, authorityCount, additionalCount } = r;
  return {
    ...{ id, flags, rcode, questionEnd, answerCount, authorityCount, additionalCount },
    recordsEnd: r.recordsEnd,
  };
}

/** The rules of `parseResponse` on a decoded message; null when it violates one. */
function slowResponse(bytes: Uint8Array): ReturnType<typeof fieldsOf> | null {
  let message: DecodedMessage;
  try {
    if (bytes[4] !== 0 || bytes[5] !== 1) return null;
    message = decodeMessage(bytes, { followPointers: false });
  } catch {
    return null; // the oracle reports a fault by throwing
  }
  const { opt: edns, answers, authorities, additionals, questionEnd } = message;
  if ((message.flags & 0xf800) !== 0x8000 || message.questions[0].qname.endsWith('…')) return null;
  if ([...answers, ...authorities].some(({ type }) => type === 41)) return null;
  if (edns !== undefined && bytes[edns.at] !== 0) return null;
  const additionalCount = edns === undefined ? additionals.length : additionals.indexOf(edns);
  const last = [...answers, ...authorities, ...additionals.slice(0, additionalCount)].at(-1);
  return {
    id: message.id,
    flags: message.flags,
    rcode: message.rcode,
    questionEnd,
    answerCount: answers.length,
    authorityCount: authorities.length,
    additionalCount,
    recordsEnd: last === undefined ? questionEnd : last.rdataAt + last.rdata.length,
  };
}

const errorOf = (packet: Uint8Array): number => headerErrorOf(packet, packet.length);

describe('headerErrorOf', () => {
  it.each([1, 2, 4, 5])('finds RCODE %i in a reply that is only a header', (rcode) => {
    expect(errorOf(encodeMessage({ id: 7, flags: 0x8180 | rcode }))).toBe(rcode);
  });

  it('finds none in a query, in another error, in another opcode, or in a reply with a question', () => {
    expect(errorOf(encodeMessage({ flags: 0x0101 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0x8183 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0x8180 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0xa981 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeQuery('example.com', 1, { flags: 0x8181 }))).toBe(NO_HEADER_ERROR);
    expect(errorOf(Uint8Array.of(0, 1, 0x81, 0x81))).toBe(NO_HEADER_ERROR);
    expect(errorOf(encodeMessage({ flags: 0x8181 }).with(5, 1))).toBe(NO_HEADER_ERROR);
  });
});
