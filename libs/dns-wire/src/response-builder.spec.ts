import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeForwardedAnswer } from './forwarding.js';
import { parseQuery, Query } from './query.js';
import { ResponseBuilder } from './response-builder.js';
import { answersQuestion, parseResponse, Response } from './response.js';
import { decodeMessage, decodeName } from './testing/decode.js';
import {
  concat,
  encodeMessage,
  encodeQuery,
  hexOf,
  opt,
  option,
  pointerTo,
  type TestMessage,
  type TestRecord,
  wireName,
} from './testing/message.js';
import { damaged, responseMessage } from './testing/mutations.js';

const TARGET = wireName('Target.example');
const builder = new ResponseBuilder();
const out = new Uint8Array(65_535);

function ask(name = 'WWW.isp.example', qtype = 1) {
  const bytes = encodeQuery(name, qtype, { udpBytes: 1232 });
  const query = new Query();
  parseQuery(bytes, bytes.length, query);
  builder.start(bytes, query);
  const send = (ttlCap = 2 ** 31 - 1) =>
    decodeMessage(
      out.slice(0, writeForwardedAnswer(out, builder.response, bytes, query, 65_535, ttlCap)),
    );
  return { send };
}

function parsed(message: TestMessage): Response {
  const bytes = encodeMessage(message);
  const response = new Response();
  expect(parseResponse(bytes, bytes.length, response)).toBe(true);
  return response;
}

const question = { qname: TARGET, qtype: 1 };
/** Where the records begin in a response to that question. */
const RECORDS = 12 + TARGET.length + 4;

describe('ResponseBuilder', () => {
  it('has the records that were added', () => {
    const { send } = ask();
    builder.addAnswer(null, 5, 60, TARGET);
    builder.addAnswer(TARGET, 1, 90, Uint8Array.of(192, 0, 2, 1));
    expect(send(80)).toMatchObject({
      rcode: 0,
      questions: [{ qname: 'WWW.isp.example', qtype: 1 }],
      answers: [
        { owner: 'WWW.isp.example', type: 5, ttl: 60, rdata: Buffer.from(TARGET) },
        { owner: 'Target.example', type: 1, ttl: 80, rdata: Buffer.of(192, 0, 2, 1) },
      ],
      authorities: [],
      trailing: 0,
    });
  });

  it.each([
    [null, 'WWW.isp.example'],
    [TARGET, 'Target.example'],
  ])('ends with an SOA record of the queried name, or of another', (owner, name) => {
    const { send } = ask();
    builder.addAnswer(null, 5, 60, TARGET);
    builder.addSoa(owner, 30);
    const answer = send();
    expect(answer.authorities).toMatchObject([{ owner: name, type: 6, ttl: 30 }]);
    const [{ rdata, rdataAt }] = answer.authorities;
    const whole = Buffer.from(out.slice(0, rdataAt + rdata.length));
    expect(decodeName(whole, rdataAt).name).toBe(name);
    expect(rdata.readUInt32BE(rdata.length - 4)).toBe(30);
  });

  it('appends the response to the name of the last record, with all its names', () => {
    const atExample = pointerTo(12 + 7);
    const cname = {
      owner: pointerTo(12),
      type: 5,
      ttl: 1,
      rdata: concat([3, 0x65, 0x64, 0x67], atExample),
    };
    const edge = pointerTo(RECORDS + 12);
    const numbers = new Uint8Array(20);
    const message = {
      flags: 0x81a3,
      questions: [question],
      answers: [
        cname,
        { owner: edge, type: 15, ttl: 2, rdata: concat([0, 10], edge) },
        { owner: edge, type: 33, ttl: 3, rdata: concat([0, 1, 0, 2, 0, 3, 1, 0x61], atExample) },
        { owner: edge, type: 16, ttl: 4, rdata: concat([2], pointerTo(12)) },
        { owner: edge, type: 17, ttl: 4, rdata: concat(edge, atExample) },
        { owner: edge, type: 35, ttl: 4, rdata: concat([0, 1, 0, 1, 1, 0x75, 0, 0], atExample) },
      ],
      authorities: [{ owner: atExample, type: 6, ttl: 5, rdata: concat(edge, atExample, numbers) }],
      additionals: [
        { owner: edge, type: 1, ttl: 6, rdata: Uint8Array.of(192, 0, 2, 9) },
        opt(1232, 0, option(15, [0, 29])),
      ],
    };
    const { send } = ask();
    builder.addAnswer(null, 5, 60, wireName('between.example'));
    builder.addAnswer(wireName('between.example'), 5, 60, TARGET);
    expect(builder.append(parsed(message))).toBe(true);
    const answer = send();
    // Without AD, as the first records are not authenticated.
    expect(answer).toMatchObject({ flags: 0x8183, rcode: 3, trailing: 0, ede: [29] });
    const whole = Buffer.from(out);
    const nameIn = (at: number) => decodeName(whole, at).name;
    const namesIn = (at: number) => [nameIn(at), nameIn(decodeName(whole, at).end)];
    expect(answer.answers.map(({ owner, type }) => [owner, type])).toEqual([
      ['WWW.isp.example', 5],
      ['between.example', 5],
      ['Target.example', 5],
      ...[15, 33, 16, 17, 35].map((type) => ['edg.example', type]),
    ]);
    const [, , a, b, c, d, e, f] = answer.answers;
    expect(nameIn(a.rdataAt)).toBe('edg.example');
    expect(nameIn(b.rdataAt + 2)).toBe('edg.example');
    expect(nameIn(c.rdataAt + 6)).toBe('a.example');
    expect(hexOf(d.rdata)).toBe('02c00c');
    expect(namesIn(e.rdataAt)).toEqual(['edg.example', 'example']);
    expect(nameIn(f.rdataAt + 8)).toBe('example');
    const [soa] = answer.authorities;
    expect([soa.owner, ...namesIn(soa.rdataAt)]).toEqual(['example', 'edg.example', 'example']);
    expect(answer.additionals[0]).toMatchObject({ owner: 'edg.example', type: 1, ttl: 6 });
  });

  it('passes on an error without records', () => {
    const { send } = ask();
    builder.addAnswer(null, 5, 60, TARGET);
    const additionals = [opt(1232, 0, option(15, [0, 22]))];
    expect(builder.append(parsed({ flags: 0x8182, questions: [question], additionals }))).toBe(
      true,
    );
    expect(send()).toMatchObject({ rcode: 2, ede: [22], answers: [], trailing: 0 });
  });

  it('refuses a response with a malformed name, or that does not fit', () => {
    const tooFar = { owner: pointerTo(0x3fff), type: 1, rdata: new Uint8Array(4) };
    ask();
    builder.addAnswer(null, 5, 60, TARGET);
    expect(
      builder.append(parsed({ flags: 0x8180, questions: [question], answers: [tooFar] })),
    ).toBe(false);
    const large = { owner: pointerTo(12), type: 16, rdata: new Uint8Array(65_500) };
    ask();
    builder.addAnswer(null, 5, 60, TARGET);
    expect(builder.append(parsed({ flags: 0x8180, questions: [question], answers: [large] }))).toBe(
      false,
    );
  });

  const RDATA_OF_FIRST = RECORDS + 12;
  const leadingTo = (target: number) => [
    { owner: pointerTo(12), type: 16, ttl: 0x0161_0000, rdata: [...wireName('a.b'), 1, 0x62, 0xc0, 12] },
    { owner: pointerTo(target), type: 1, ttl: 1, rdata: Uint8Array.of(192, 0, 2, 1) },
  ]; // oxfmt-ignore
  const appendPointerTo = (target: number) => {
    const { send } = ask();
    builder.addAnswer(null, 5, 60, TARGET);
    const answers = leadingTo(target).map((one) => ({ ...one, rdata: Uint8Array.from(one.rdata) }));
    const isAppended = builder.append(parsed({ flags: 0x8180, questions: [question], answers }));
    return isAppended && send;
  };

  it('refuses a response with a pointer to itself', () => {
    expect(appendPointerTo(RDATA_OF_FIRST + 9)).toBe(false);
  });

  it.each([
    ['the queried name', 12, 'Target.example'],
    ['the name in the rdata of another type', RDATA_OF_FIRST, 'a.b'],
    ['its end', RDATA_OF_FIRST + 2, 'b'],
    ['a name there that has a pointer', RDATA_OF_FIRST + 5, 'b.Target.example'],
  ])('keeps a name that is a pointer to %s', (_, target, name) => {
    const send = appendPointerTo(target);
    expect(send && send().answers[2].owner).toBe(name);
  });

  it('writes an owner once that several records have', () => {
    const { send } = ask();
    const owner = pointerTo(12);
    const answers = [1, 2, 3].map((last) => ({
      owner,
      type: 1,
      rdata: Uint8Array.of(192, 0, 2, last),
    }));
    builder.addAnswer(null, 5, 60, TARGET);
    expect(builder.append(parsed({ flags: 0x8180, questions: [question], answers }))).toBe(true);
    const [, first, second, third] = send().answers;
    expect(second.at - first.at).toBe(TARGET.length + 14);
    expect(third.at - second.at).toBe(2 + 14);
    expect(third.owner).toBe('Target.example');
  });

  /** NXDOMAIN of example.com as the answer for a name below. */
  function descend(authorities: readonly TestRecord[]) {
    const { send } = ask('a.bc.Example.com', 28);
    const questions = [{ qname: wireName('example.com'), qtype: 1 }];
    return builder.append(parsed({ flags: 0x81a3, questions, authorities })) && send();
  }

  it('becomes the answer for a name below one that does not exist', () => {
    // MNAME begins with a label, and RNAME points into MNAME: 12 + 17 + 12.
    const mname = concat([2, 0x6e, 0x73], pointerTo(12));
    const rdata = concat(mname, pointerTo(41), new Uint8Array(20));
    const answer = descend([
      { owner: pointerTo(12), type: 6, ttl: 60, rdata },
      { owner: pointerTo(20), type: 2, ttl: 70, rdata: pointerTo(41) },
      { owner: wireName('x.example.com'), type: 47, ttl: 80, rdata: wireName('example.com') },
    ]);
    expect(answer).toMatchObject({
      rcode: 3,
      questions: [{ qname: 'a.bc.Example.com', qtype: 28 }],
      answers: [],
      authorities: [
        { owner: 'example.com', type: 6, ttl: 60 },
        { owner: 'com', type: 2, ttl: 70 },
        { owner: 'x.example.com', type: 47, ttl: 80 },
      ],
      trailing: 0,
    });
    // Nothing comes before it that is not authenticated.
    expect(builder.response.flags).toBe(0x81a3);
    const names = wireName('ns.example.com');
    expect(answer && answer.authorities.map((one) => hexOf(one.rdata))).toEqual(
      [concat(names, names, new Uint8Array(20)), names, wireName('example.com')].map(hexOf),
    );
  });

  it('takes no damaged records', () => {
    const owner = pointerTo(12);
    expect(descend([{ owner, type: 6, ttl: 1, rdata: Uint8Array.of(3, 1, 1) }])).toBe(false);
    expect(descend([{ owner, type: 6, ttl: 1, rdata: Uint8Array.of(0xc0) }])).toBe(false);
    expect(descend([{ owner, type: 2, ttl: 1, rdata: pointerTo(0x3fff) }])).toBe(false);
  });

  it('keeps owners and TTLs of any response, and takes damaged ones', () => {
    let compared = 0;
    const asked = encodeQuery('target.example', 1);
    const query = new Query();
    parseQuery(asked, asked.length, query);
    // Also into the question, to the fixed part of a record, and to the middle of anything.
    const anyPointer = fc.integer({ min: 0, max: RECORDS + 60 }).map(pointerTo);
    const anyResponse = damaged(
      fc
        .tuple(responseMessage, fc.oneof(fc.constant([]), fc.array(anyPointer, { maxLength: 2 })))
        .map(([message, owners]) => ({
          ...message,
          flags: 0x8180,
          questions: [question],
          answers: [
            ...(message.answers ?? []),
            ...owners.map((owner) => ({ owner, type: 1, ttl: 60, rdata: new Uint8Array(4) })),
          ],
        })),
    );
    fc.assert(
      fc.property(anyResponse, (bytes) => {
        const response = new Response();
        if (!parseResponse(bytes, bytes.length, response)) return;
        if (!answersQuestion(response, asked, query)) return;
        const { send } = ask();
        builder.addAnswer(null, 5, 60, TARGET);
        if (!builder.append(response) || response.rcode > 15) return;
        const before = decoded(() => decodeMessage(bytes.slice(0, response.recordsEnd + 11)));
        if (before === null) return;
        if (![0, 3].includes(response.rcode)) return;
        const ownersAndTtls = (records: typeof before.answers) =>
          records.map(({ owner, type, ttl }) => [
            // A pointer to the question gets the case of the target.
            owner.toLowerCase(),
            type,
            ttl > 0x7fff_ffff ? 0 : ttl,
          ]);
        expect(ownersAndTtls(send().answers.slice(1))).toEqual(ownersAndTtls(before.answers));
        compared++;
      }),
      { numRuns: 5_000, endOnFailure: true },
    );
    expect(compared).toBeGreaterThan(500);
  });
});

/** What the simple decoder makes of it; null when it is malformed. */
function decoded<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
