import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseQuery, Query, QueryStatus } from './query.js';
import { decodeMessage, decodeOptions, type DecodedMessage } from './testing/decode.js';
import {
  bytesOf,
  concat,
  encodeMessage,
  encodeQuery,
  opt,
  option,
  pointerTo,
  uint16,
  wireName,
} from './testing/message.js';
import { damaged, queryMessage } from './testing/mutations.js';

const query = new Query();
const parse = (bytes: Uint8Array) => parseQuery(bytes, bytes.length, query);
const question = { qname: wireName('www.example.com'), qtype: 1 };

describe('parseQuery', () => {
  it('reads what dig sends', () => {
    // dig +nocookie +dnssec WwW.example.com AAAA
    const bytes = bytesOf(
      'beef 0120 0001 0000 0000 0001 03577757 076578616d706c65 03636f6d 00 001c 0001 00 0029 04d0 0000 8000 0000',
    );
    expect(parse(bytes)).toBe(QueryStatus.ok);
    expect(query).toMatchObject({
      id: 0xbeef,
      flags: 0x0120,
      qtype: 28,
      qclass: 1,
      questionEnd: 33,
      hasEdns: true,
      dnssecOk: true,
      udpBytes: 1232,
    });
    expect(query.recursionDesired).toBe(true);
  });

  it('resets the fields of the previous query', () => {
    parse(encodeQuery('www.example.com', 28, { udpBytes: 4096, ednsTtl: 0x8000 }));
    expect(parse(encodeQuery('.', 2, { flags: 0 }))).toBe(QueryStatus.ok);
    expect(query).toMatchObject({
      id: 0x1234,
      flags: 0,
      qtype: 2,
      qclass: 1,
      questionEnd: 17,
      hasEdns: false,
      dnssecOk: false,
      udpBytes: 512,
    });
  });

  it('copies to another query', () => {
    parse(encodeQuery('www.example.com', 28, { udpBytes: 900, ednsTtl: 0x8000 }));
    const copy = new Query();
    copy.copyFrom(query);
    expect(copy).toEqual(query);
  });

  it.each([
    [0, 512],
    [511, 512],
    [513, 513],
    [1232, 1232],
    [4096, 1232],
  ])('treats an EDNS size of %i as %i', (udpBytes, expected) => {
    expect(parse(encodeQuery('example.com', 1, { udpBytes }))).toBe(QueryStatus.ok);
    expect(query.udpBytes).toBe(expected);
  });

  it('drops a packet shorter than a header', () => {
    expect(parse(encodeQuery('example.com', 1).slice(0, 11))).toBe(QueryStatus.drop);
  });

  it('drops a reply', () => {
    expect(parse(encodeQuery('example.com', 1, { flags: 0x8100 }))).toBe(QueryStatus.drop);
    expect(parse(encodeQuery('example.com', 1, { flags: 0xa100 }))).toBe(QueryStatus.drop);
  });

  it.each([1, 2, 4, 5, 6, 15])('does not implement opcode %i', (opcode) => {
    const bytes = encodeQuery('example.com', 1, { flags: opcode << 11 });
    expect(parse(bytes)).toBe(QueryStatus.notImp);
    expect(query.questionEnd).toBe(12);
    const flags = opcode << 11;
    const soa = { owner: wireName('example.com'), type: 6, rdata: new Uint8Array(22) };
    const withOpt = { flags, questions: [question], answers: [soa], additionals: [opt(1232)] };
    expect(parse(encodeMessage(withOpt))).toBe(QueryStatus.notImp);
    expect(query).toMatchObject({ questionEnd: 12, qtype: 0, qclass: 0, hasEdns: true });
    expect(parse(bytes.subarray(0, 20))).toBe(QueryStatus.notImp);
    expect(query).toMatchObject({ questionEnd: 12, hasEdns: false });
    const withoutQuestion = { flags, questions: [], additionals: [opt(1232)] };
    expect(parse(encodeMessage(withoutQuestion))).toBe(QueryStatus.notImp);
    expect(query).toMatchObject({ questionEnd: 12, hasEdns: true });
  });

  it.each([0, 2])('rejects %i questions (RFC 9619)', (count) => {
    const questions = Array.from({ length: count }, () => question);
    expect(parse(encodeMessage({ questions }))).toBe(QueryStatus.formErr);
  });

  it('rejects a compression pointer in a question (RFC 1035 §4.1.4)', () => {
    for (const qname of [
      pointerTo(0),
      pointerTo(12),
      concat(wireName('www').slice(0, 4), pointerTo(12)),
    ]) {
      expect(parse(encodeMessage({ questions: [{ qname, qtype: 1 }] }))).toBe(QueryStatus.formErr);
      expect(query.questionEnd).toBe(12);
    }
  });

  it.each([0x40, 0x80])('rejects the reserved label type %i', (type) => {
    const qname = concat([type | 1, 0x61, 0]);
    expect(parse(encodeMessage({ questions: [{ qname, qtype: 1 }] }))).toBe(QueryStatus.formErr);
  });

  it('accepts a name of 255 bytes and no longer one', () => {
    const label = 'a'.repeat(61);
    const longest = [label, label, label, label, 'bbbbb'].join('.');
    expect(wireName(longest)).toHaveLength(255);
    expect(parse(encodeQuery(longest, 1))).toBe(QueryStatus.ok);
    expect(parse(encodeQuery(`${longest}b`, 1))).toBe(QueryStatus.formErr);
  });

  it('rejects a question that is cut short', () => {
    const bytes = encodeQuery('example.com', 1);
    for (let length = 12; length < bytes.length; length++) {
      expect(parseQuery(bytes, length, query)).toBe(QueryStatus.formErr);
    }
  });

  it('rejects bytes after the message', () => {
    expect(parse(concat(encodeQuery('example.com', 1), [0]))).toBe(QueryStatus.formErr);
    expect(parse(concat(encodeQuery('example.com', 1, { udpBytes: 1232 }), [0]))).toBe(
      QueryStatus.formErr,
    );
  });

  it('rejects records in the answer and authority sections', () => {
    const record = { owner: wireName('example.com'), type: 1, rdata: Uint8Array.of(192, 0, 2, 1) };
    expect(parse(encodeMessage({ questions: [question], answers: [record] }))).toBe(
      QueryStatus.formErr,
    );
    expect(parse(encodeMessage({ questions: [question], authorities: [record] }))).toBe(
      QueryStatus.formErr,
    );
  });

  it('accepts other additional records', () => {
    const tsig = {
      owner: wireName('key.example'),
      type: 250,
      class: 255,
      rdata: new Uint8Array(9),
    };
    expect(parse(encodeMessage({ questions: [question], additionals: [opt(1400), tsig] }))).toBe(
      QueryStatus.ok,
    );
    expect(query.udpBytes).toBe(1232);
  });

  it('rejects two OPT records and one that is not owned by the root (RFC 6891 §6.1.1)', () => {
    const owned = { ...opt(1232), owner: wireName('example.com') };
    for (const additionals of [[opt(1232), opt(1232)], [owned]]) {
      expect(parse(encodeMessage({ questions: [question], additionals }))).toBe(
        QueryStatus.formErr,
      );
    }
  });

  it('rejects options that do not fill the OPT record', () => {
    for (const options of [Uint8Array.of(0), concat(uint16(10), uint16(8), [1, 2, 3])]) {
      const message = { questions: [question], additionals: [opt(1232, 0, options)] };
      expect(parse(encodeMessage(message))).toBe(QueryStatus.formErr);
    }
  });

  it('ignores unknown options (RFC 6891 §6.1.2)', () => {
    const options = concat(option(8, [0, 1, 24, 0, 192, 0, 2]), option(65_001, []));
    const message = { questions: [question], additionals: [opt(1232, 0, options)] };
    expect(parse(encodeMessage(message))).toBe(QueryStatus.ok);
    expect(query).toMatchObject({ hasEdns: true, cookieBytes: 0, hasPadding: false });
    const padded = { ...message, additionals: [opt(1232, 0, option(12, [0, 0]))] };
    expect(parse(encodeMessage(padded))).toBe(QueryStatus.ok);
    expect(query).toMatchObject({ hasPadding: true, isAnswerPadded: false });
  });

  it('reads the first COOKIE option (RFC 7873 §4), and rejects invalid lengths (§5.2.2)', () => {
    const withCookie = (size: number, questions = [question]) => {
      const cookie = Array.from({ length: size }, (_, i) => i + 1);
      const options = concat(option(65_001, [9]), option(10, cookie), option(10, [1]));
      return encodeMessage({ questions, additionals: [opt(1232, 0, options)] });
    };
    for (const size of [8, 16, 24, 40]) {
      expect(parse(withCookie(size))).toBe(QueryStatus.ok);
      expect(query).toMatchObject({ cookieBytes: size, hasAnswerCookie: false });
      expect([...query.cookie.slice(0, size)].at(-1)).toBe(size);
      expect(parse(withCookie(size, []))).toBe(QueryStatus.cookieOnly);
      const copy = new Query();
      copy.copyFrom(query);
      expect(copy).toEqual(query);
    }
    for (const size of [0, 1, 7, 9, 15, 41, 100]) {
      expect(parse(withCookie(size))).toBe(QueryStatus.formErr);
      expect(query.cookieBytes).toBe(0);
      expect(parse(withCookie(size, []))).toBe(QueryStatus.formErr);
    }
    expect(parse(encodeMessage({ additionals: [opt(1232)] }))).toBe(QueryStatus.formErr);
  });

  it('answers an unknown EDNS version with BADVERS (RFC 6891 §6.1.3)', () => {
    expect(parse(encodeQuery('example.com', 1, { udpBytes: 1232, ednsTtl: 0x0001_8000 }))).toBe(
      QueryStatus.badVers,
    );
    expect(query.hasEdns).toBe(true);
  });

  it.each([
    [0, QueryStatus.formErr],
    [41, QueryStatus.formErr],
    [128, QueryStatus.formErr],
    [249, QueryStatus.notImp],
    [252, QueryStatus.notImp],
    [255, QueryStatus.ok],
    [256, QueryStatus.ok],
  ])('answers type %i with status %i', (qtype, status) => {
    expect(parse(encodeQuery('example.com', qtype))).toBe(status);
    expect(query.qtype).toBe(qtype);
  });

  it('does not implement IXFR, whose query has an authority record (RFC 1995 §3)', () => {
    const soa = { owner: wireName('example.com'), type: 6, rdata: new Uint8Array(22) };
    const message = { questions: [{ ...question, qtype: 251 }], authorities: [soa] };
    expect(parse(encodeMessage(message))).toBe(QueryStatus.notImp);
  });

  it('reads OPT behind records of other sections, for the answer (RFC 6891 §6.1.1)', () => {
    const soa = { owner: wireName('example.com'), type: 6, rdata: new Uint8Array(22) };
    const ixfr = { questions: [{ ...question, qtype: 251 }], authorities: [soa] };
    expect(parse(encodeMessage({ ...ixfr, additionals: [opt(1232)] }))).toBe(QueryStatus.notImp);
    expect(query.hasEdns).toBe(true);
    const answered = { questions: [question], answers: [soa], additionals: [opt(1232)] };
    expect(parse(encodeMessage(answered))).toBe(QueryStatus.formErr);
    expect(query.hasEdns).toBe(true);
    const misplaced = { questions: [{ ...question, qtype: 251 }], authorities: [opt(1232)] };
    expect(parse(encodeMessage(misplaced))).toBe(QueryStatus.formErr);
    expect(query.hasEdns).toBe(false);
  });

  it('agrees with a simple parser on 20,000 damaged queries, and never reads past their end', () => {
    const behind = new Uint8Array(2048);
    const second = new Query();
    const seen = new Map<QueryStatus, number>();
    fc.assert(
      fc.property(damaged(queryMessage), fc.nat(255), (bytes, filler) => {
        const status = parse(bytes);
        seen.set(status, (seen.get(status) ?? 0) + 1);
        expect(status).toBe(slowStatus(bytes));
        behind.fill(filler).set(bytes);
        expect(parseQuery(behind, bytes.length, second)).toBe(status);
        if (status === QueryStatus.drop) return;
        const { cookieBytes } = query;
        expect(second.cookie.slice(0, cookieBytes)).toEqual(query.cookie.slice(0, cookieBytes));
        // The bytes after it are left over from earlier queries.
        second.cookie.set(query.cookie);
        // The matcher for each query would take longer than all the rest.
        if (!isDeepStrictEqual(second, query)) expect(second).toEqual(query);
        if (status === QueryStatus.ok) expectSame(query, decodeLoosely(bytes));
      }),
      { numRuns: 20_000 },
    );
    for (const status of Object.values(QueryStatus)) {
      const least = status === QueryStatus.cookieOnly ? 0 : 200;
      expect(seen.get(status)).toBeGreaterThan(least);
    }
  });
});

function expectSame(query: Query, message: DecodedMessage): void {
  expect(query).toMatchObject({
    id: message.id,
    flags: message.flags,
    qtype: message.questions[0].qtype,
    qclass: message.questions[0].qclass,
    questionEnd: message.questionEnd,
    hasEdns: message.opt !== undefined,
    dnssecOk: message.opt !== undefined && (message.opt.ttl & 0x8000) !== 0,
    cookieBytes: Math.max(cookieOf(message), 0),
    hasPadding:
      message.opt !== undefined && decodeOptions(message.opt.rdata).some(({ code }) => code === 12),
    udpBytes: Math.min(1232, Math.max(512, message.opt?.class ?? 512)),
  });
}

/** The rules of `parseQuery`, one by one. */
function slowStatus(bytes: Uint8Array): QueryStatus {
  if (bytes.length < 12 || bytes[2] >= 0x80) return QueryStatus.drop;
  if ((bytes[2] & 0x78) !== 0) return QueryStatus.notImp;
  const sections = Buffer.from(bytes.slice(4, 12));
  const isOnlyAdditional = sections.readUInt16BE(2) === 0 && sections.readUInt16BE(4) === 0;
  if (sections.readUInt16BE(0) === 0 && isOnlyAdditional) {
    const status = slowAdditional(bytes);
    if (status !== QueryStatus.ok) return status;
    return cookieOf(decodeLoosely(bytes)) > 0 ? QueryStatus.cookieOnly : QueryStatus.formErr;
  }
  if (sections.readUInt16BE(0) !== 1) return QueryStatus.formErr;
  let qtype: number;
  let question: DecodedMessage;
  try {
    question = decodeMessage(concat(bytes.slice(0, 6), [0, 0, 0, 0, 0, 0], bytes.slice(12)));
    qtype = question.questions[0].qtype;
  } catch {
    return QueryStatus.formErr; // the oracle reports a fault by throwing
  }
  if (hasPointer(bytes)) return QueryStatus.formErr;
  const status = slowAdditional(bytes);
  if (status !== QueryStatus.ok) return status;
  if ([0, 41, 128].includes(qtype)) return QueryStatus.formErr;
  if (qtype > 128 && qtype < 255) return QueryStatus.notImp;
  return isOnlyAdditional ? QueryStatus.ok : QueryStatus.formErr;
}

function slowAdditional(bytes: Uint8Array): QueryStatus {
  try {
    const message = decodeLoosely(bytes);
    if (message.trailing > 0) return QueryStatus.formErr;
    const others = [...message.answers, ...message.authorities];
    if (others.some(({ type }) => type === 41)) return QueryStatus.formErr;
    if (message.opt === undefined) return QueryStatus.ok;
    if (bytes[message.opt.at] !== 0) return QueryStatus.formErr;
    decodeOptions(message.opt.rdata);
    if (((message.opt.ttl >>> 16) & 0xff) !== 0) return QueryStatus.badVers;
    const size = cookieOf(message);
    const isCookie = size === -1 || size === 8 || (size >= 16 && size <= 40);
    return isCookie ? QueryStatus.ok : QueryStatus.formErr;
  } catch {
    return QueryStatus.formErr; // the oracle reports a fault by throwing
  }
}

/** Bytes of the first COOKIE option; −1 without one. */
function cookieOf({ opt: record }: DecodedMessage): number {
  const options = record === undefined ? [] : decodeOptions(record.rdata);
  return options.find(({ code }) => code === 10)?.data.length ?? -1;
}

/** `parseQuery` does not follow pointers in owner names of additional records, so a broken target is valid there. */
function decodeLoosely(bytes: Uint8Array): DecodedMessage {
  return decodeMessage(bytes, { followPointers: false });
}

function hasPointer(bytes: Uint8Array): boolean {
  let at = 12;
  while (bytes[at] > 0 && bytes[at] < 0x40) at += bytes[at] + 1;
  return bytes[at] !== 0;
}
