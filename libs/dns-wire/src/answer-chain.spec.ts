import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerChain, ChainStatus, MAX_TARGETS } from './answer-chain.js';
import { parseResponse, Response } from './response.js';
import { Scrubber } from './scrubber.js';
import { slowChain } from './testing/chain-oracle.js';
import { decodeMessage, decodeName, type DecodedRecord } from './testing/decode.js';
import {
  concat,
  encodeMessage,
  pointerTo,
  presentationName,
  wireName,
  type TestRecord,
} from './testing/message.js';
import { damaged, responseMessage } from './testing/mutations.js';

const response = new Response();
const chain = new AnswerChain();

/** Targets in order; ends with `malformed` or `tooLong` when the chain is; null when the response is malformed. */
function targetsOf(bytes: Uint8Array): string[] | null {
  if (!parseResponse(bytes, bytes.length, response)) return null;
  const status = chain.walk(response);
  const targets = Array.from({ length: chain.targetCount }, (_, i) =>
    presentationName(chain.names, chain.targetAt(i)),
  );
  if (status === ChainStatus.whole) return targets;
  return [...targets, status === ChainStatus.malformed ? 'malformed' : 'tooLong'];
}

/** Which records of the answer section belong to the chain. */
const membersOf = (bytes: Uint8Array) =>
  targetsOf(bytes) && Array.from(chain.isMember.subarray(0, response.answerCount), Boolean);

const reply = (...answers: TestRecord[]) =>
  encodeMessage({
    flags: 0x8180,
    questions: [{ qname: wireName('www.example.com'), qtype: 1 }],
    answers,
  });
const QNAME = pointerTo(12);
const cname = (rdata: Uint8Array, owner = QNAME) => ({ owner, type: 5, rdata });
const link = (owner: string, target: string) => cname(wireName(target), wireName(owner));
const dname = (owner: string, target: string) => ({ ...link(owner, target), type: 39 });
const address = (owner: string) => ({
  owner: wireName(owner),
  type: 1,
  rdata: Uint8Array.of(192, 0, 2, 1),
});
const service = (type: number, target: Uint8Array) => ({
  owner: QNAME,
  type,
  rdata: concat([0, 1], target, [0, 1, 0, 3, 2, 0x68, 0x32]),
});

describe('AnswerChain', () => {
  it('expands compressed CNAME targets in their order', () => {
    const bytes = reply(
      cname(concat([3], Buffer.from('cdn'), pointerTo(16))),
      address('cdn.example.com'),
      link('CDN.example.com', 'Edge.example.net'),
    );
    expect(targetsOf(bytes)).toEqual(['cdn.example.com', 'edge.example.net']);
  });

  it('reads TargetNames of HTTPS and SVCB, and skips the root (RFC 9460 §2.5)', () => {
    const bytes = reply(
      service(65, wireName('svc.example.net')),
      service(65, wireName('.')),
      service(64, wireName('svc2.example.net')),
    );
    expect(targetsOf(bytes)).toEqual(['svc.example.net', 'svc2.example.net']);
  });

  it('substitutes the owner of a DNAME record, also further down the chain (RFC 6672 §2.2)', () => {
    const records = [
      link('www.example.com', 'a.b.example.net'),
      dname('Example.net', 'example.org'),
      dname('b.example.org', 'c.test'),
    ];
    const names = ['a.b.example.net', 'a.b.example.org', 'a.c.test'];
    expect(targetsOf(reply(...records))).toEqual(names);
    expect(targetsOf(reply(...records.toReversed()))).toEqual(names);
    expect(targetsOf(reply(dname('www.example.com', 'example.net')))).toEqual(['example.net']);
    expect(targetsOf(reply(dname('xample.com', 'example.net')))).toEqual([]);
  });

  it('judges the target itself where the name below it would be too long', () => {
    const long = `${'x'.repeat(61)}.`.repeat(4);
    expect(targetsOf(reply(dname('example.com', `${long}net`)))).toEqual([`${long}net`]);
  });

  it('has the records of its names, in any order, and the signatures of its DNAME records', () => {
    const signature = (owner: string, covered: number) => ({
      ...address(owner),
      type: 46,
      rdata: Uint8Array.of(0, covered, 8, 2),
    });
    const records: [TestRecord, boolean][] = [
      [address('edge.example.net'), true],
      [address('other.example.com'), false],
      [signature('com', 39), true],
      [signature('com', 1), false],
      [signature('www.example.com', 5), true],
      [dname('com', 'net'), true],
      [dname('org', 'net'), false],
      [link('www.example.com', 'edge.example.net'), true],
      [link('other.example.com', 'third.example.com'), false],
      [address('third.example.com'), false],
    ];
    const bytes = reply(...records.map(([record]) => record));
    expect(membersOf(bytes)).toEqual(records.map(([, isMember]) => isMember));
    expect(chain.strayCount).toBe(5);
    expect(targetsOf(bytes)).toEqual(['www.example.net', 'edge.example.net']);
  });

  it('ends at once when there is no answer', () => {
    expect(targetsOf(reply())).toEqual([]);
  });

  it.each([
    ['points at itself', reply(cname(pointerTo(45)))],
    ['points ahead', reply(cname(pointerTo(60)), cname(wireName('example.net')))],
    ['runs out of its rdata', reply(cname(Uint8Array.of(9, 0x61)), cname(wireName('a.example')))],
    ['is missing', reply({ owner: QNAME, type: 65, rdata: Uint8Array.of(0) })],
    ['is that of a DNAME record', reply({ ...dname('com', 'net'), rdata: Uint8Array.of(9) })],
  ])('reports a target as malformed that %s', (_, bytes) => {
    expect(targetsOf(bytes)).toEqual(['malformed']);
  });

  it('is too long with 33 targets, with a DNAME record that leads below itself, or among many strays', () => {
    const links = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        link(i === 0 ? 'www.example.com' : `n${i}`, `n${i + 1}`),
      );
    expect(targetsOf(reply(...links(MAX_TARGETS).toReversed()))).toHaveLength(MAX_TARGETS);
    expect(targetsOf(reply(...links(MAX_TARGETS + 1)))?.at(-1)).toBe('tooLong');
    expect(targetsOf(reply(dname('com', 'a.com')))?.at(-1)).toBe('tooLong');
    const strays = Array.from({ length: 4_000 }, () => ({ owner: Uint8Array.of(0), type: 1 }));
    expect(targetsOf(reply(...strays))).toEqual([]);
    expect(targetsOf(reply(...links(2).toReversed(), ...strays))?.at(-1)).toBe('tooLong');
    // All records of one name are no such work.
    expect(
      targetsOf(reply(...links(2), ...strays.map((one) => ({ ...one, owner: wireName('n2') })))),
    ).toEqual(['n1', 'n2']);
  });

  it('agrees with an oracle on 20,000 damaged responses', () => {
    let found = 0;
    fc.assert(
      fc.property(damaged(responseMessage), (bytes) => {
        if (!parseResponse(bytes, bytes.length, response)) return;
        found += expectOracle(bytes);
      }),
      { numRuns: 20_000 },
    );
    expect(found).toBeGreaterThan(1000);
  });
});

/** @returns the number of targets */
function expectOracle(bytes: Uint8Array): number {
  const expected = slowChain(bytes);
  const status = chain.walk(response);
  const isUsable = !expected.isMalformed && expected.targets.size <= MAX_TARGETS;
  expect(status === ChainStatus.whole).toBe(isUsable);
  if (!isUsable) return 0;
  const names = Array.from(
    { length: chain.targetCount },
    (_, i) => decodeName(Buffer.from(chain.names), chain.targetAt(i)).name,
  );
  expect(names.toSorted()).toEqual([...expected.targets].toSorted());
  expect(Array.from(chain.isMember.subarray(0, response.answerCount), Boolean)).toEqual(
    expected.members,
  );
  return names.length;
}

/** Few names, so that records lead to each other. */
const label = fc.constantFrom('a', 'b', 'A');
const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
const answerRecord = fc.record({
  owner: name,
  target: name,
  type: fc.constantFrom(1, 5, 5, 5, 39, 39, 46, 64, 65, 15),
  isCompressed: fc.boolean(),
});
const otherRecord = fc.record({
  owner: name,
  target: name,
  type: fc.constantFrom(1, 2, 5, 6, 43, 46, 47, 50),
  isCompressed: fc.boolean(),
});
type NamedRecord = { owner: string; target: string; type: number; isCompressed: boolean };

/** A response whose names point to earlier ones, also in records that do not belong there. */
function encodeNamed(qname: string, answers: NamedRecord[], authorities: NamedRecord[]) {
  let end = 12 + wireName(qname).length + 4;
  const places = new Map([[qname, 12]]);
  const nameAt = (text: string, at: number, isCompressed: boolean) => {
    const place = places.get(text);
    if (place === undefined) places.set(text, at);
    return place === undefined || !isCompressed ? wireName(text) : pointerTo(place);
  };
  const record = ({ owner, target, type, isCompressed }: NamedRecord, index: number) => {
    const ownerBytes = nameAt(owner, end, isCompressed);
    const rdataAt = end + ownerBytes.length + 10;
    const names = (before: number, isPlain = false) =>
      isPlain ? wireName(target) : nameAt(target, rdataAt + before, isCompressed);
    const rdatas: Record<number, () => Uint8Array> = {
      1: () => Uint8Array.of(192, 0, 2, index),
      6: () => concat(names(0), wireName('host'), new Uint8Array(20)),
      15: () => concat([0, index], names(2)),
      43: () => Uint8Array.of(1, 2, 8, 2, index),
      46: () => concat([0, index % 2 === 0 ? 39 : 1], new Uint8Array(16), wireName(target)),
      64: () => concat([0, index], names(2, true), [0, 4, 0, 4, 192, 0, 2, index]),
    };
    const rdata = (rdatas[type === 65 ? 64 : type] ?? (() => names(0, type === 47)))();
    end = rdataAt + rdata.length;
    return { owner: ownerBytes, type, ttl: 60 + index, rdata };
  };
  return encodeMessage({
    flags: 0x8180,
    questions: [{ qname: wireName(qname), qtype: 1 }],
    answers: answers.map(record),
    authorities: authorities.map(record),
  });
}

/** A record without its place in the message: names of its rdata in full. */
function readable(bytes: Uint8Array, { owner, type, ttl, rdata, rdataAt }: DecodedRecord) {
  const before = { 2: 0, 5: 0, 6: 0, 15: 2, 39: 0 }[type];
  if (before === undefined) return [owner, type, ttl, rdata.toString('hex')];
  const { name: target, end } = decodeName(Buffer.from(bytes), rdataAt + before);
  const rest = rdata.subarray(end - rdataAt).toString('hex');
  return [owner, type, ttl, rdata.subarray(0, before).toString('hex'), target, rest];
}

describe('Scrubber', () => {
  const scrubber = new Scrubber();

  it('keeps what an oracle keeps, whatever names point to, in 10,000 answers', () => {
    const seen = { kept: 0, removed: 0, copies: 0 };
    const records = fc.array(answerRecord, { maxLength: 9 });
    const others = fc.array(otherRecord, { maxLength: 3 });
    fc.assert(
      fc.property(name, records, others, (qname, answers, authorities) => {
        const bytes = encodeNamed(qname, answers, authorities);
        expect(parseResponse(bytes, bytes.length, response)).toBe(true);
        expectOracle(bytes);
        const expected = slowChain(bytes);
        const scrubbed = scrubber.scrub(response);
        if (expected.targets.size > MAX_TARGETS) {
          expect(scrubbed).toBe(response);
          return;
        }
        const before = decodeMessage(bytes);
        const wanted = {
          answers: before.answers.filter((_, i) => expected.members[i]),
          authorities: before.authorities.filter(({ type }) =>
            [2, 6, 43, 46, 47, 50].includes(type),
          ),
        };
        const { bytes: after, recordsEnd, answerCount, authorityCount } = scrubbed!;
        // What the header says is in the fields of the response.
        const message = concat(
          after.subarray(0, 6),
          [0, answerCount, 0, authorityCount, 0, 0],
          after.subarray(12, recordsEnd),
        );
        const shown = decodeMessage(message);
        expect(shown.questions).toEqual(before.questions);
        expect(shown.trailing).toBe(0);
        for (const section of ['answers', 'authorities'] as const) {
          expect(shown[section].map((one) => readable(message, one))).toEqual(
            wanted[section].map((one) => readable(bytes, one)),
          );
        }
        for (const [i, { rdataAt }] of [...shown.answers, ...shown.authorities].entries()) {
          expect(scrubbed!.ttlOffsets[i]).toBe(rdataAt - 6);
        }
        seen.kept += shown.answers.length;
        seen.removed += before.answers.length - shown.answers.length;
        if (scrubbed !== response) seen.copies++;
      }),
      { numRuns: 10_000 },
    );
    expect(seen.kept).toBeGreaterThan(2_000);
    expect(seen.removed).toBeGreaterThan(2_000);
    expect(seen.copies).toBeGreaterThan(2_000);
  });

  it('gives nothing when the rest is malformed or too large', () => {
    const scrub = (...answers: TestRecord[]) => {
      const bytes = reply(...answers);
      expect(parseResponse(bytes, bytes.length, response)).toBe(true);
      return scrubber.scrub(response);
    };
    const stray = address('other.example');
    expect(scrub(stray, { owner: QNAME, type: 15, rdata: Uint8Array.of(0) })).toBeNull();
    expect(
      scrub(stray, { owner: QNAME, type: 15, rdata: concat([0, 1], pointerTo(4000)) }),
    ).toBeNull();
    const atQname = pointerTo(12);
    const many = Array.from({ length: 3_000 }, () => ({ owner: atQname, type: 2, rdata: atQname }));
    expect(scrub(...many)).toBe(response);
    expect(scrub(...many, stray)).toBeNull();
    expect(
      scrub({ ...stray, owner: pointerTo(4000) }, { owner: QNAME, type: 1 })?.answerCount,
    ).toBe(1);
  });
});
