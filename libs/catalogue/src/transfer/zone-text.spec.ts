import { concat, encodeMessage, type TestRecord, wireName } from '@weir/dns-wire/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { damaged, responseMessage } from '../../../dns-wire/src/testing/mutations.js';
import { CatalogueError } from '../catalogue-error.js';
import { expectNames } from '../lists/testing/lists.js';
import { Tsig } from './tsig.js';
import { readAnswer, serialOf, ZoneText } from './zone-text.js';

const ID = 7;
const ZONE = Buffer.from(wireName('rpz.example'));
const SOA: TestRecord = {
  owner: wireName('RPZ.Example'),
  type: 6,
  rdata: Buffer.concat([wireName('ns.example'), wireName('.'), Buffer.from([0, 0, 0, 9]), ZONE]),
};
const cname = (owner: Uint8Array, target = '.'): TestRecord => ({
  owner,
  type: 5,
  rdata: wireName(target),
});
const messageOf = (...answers: TestRecord[]) => encodeMessage({ id: ID, flags: 0x8400, answers });

/** The text of a transfer in one message. */
function textOf(...answers: TestRecord[]): string {
  const message = messageOf(...answers);
  const zone = new ZoneText(ZONE);
  const text = zone.take(message, readAnswer(message, ID));
  expect(zone).toMatchObject({ serial: 9, isComplete: true });
  return text;
}

describe('ZoneText', () => {
  it('makes a zone file of the records, which format rpz reads', async () => {
    const text = textOf(
      SOA,
      { owner: ZONE, type: 2, rdata: wireName('ns.example') },
      cname(wireName('Bet.example.rpz.example')),
      cname(wireName('*.poker.example.rpz.example'), '*'),
      cname(wireName('drop.example.rpz.example'), 'RPZ-DROP'),
      cname(wireName('passed.example.rpz.example'), 'rpz-passthru'),
      { owner: wireName('garden.example.rpz.example'), type: 1, rdata: Buffer.from([1, 2, 3, 4]) },
      cname(wireName('elsewhere.example')),
      SOA,
    );
    const listed = ['bet.example', 'poker.example', 'drop.example'];
    const report = await expectNames(text, 'rpz', listed);
    expect(report).toMatchObject({ lines: 8, skipped: 2, invalidLines: 1 });
    expect(report.examples).toEqual([{ line: 8, problem: 'an owner outside of the zone' }]);
  });

  it('lets no byte of a name end it, or begin anything else', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(bytes, (label) => {
        const owner = concat([label.length], label, wireName('x.rpz.example'));
        const text = textOf(SOA, cname(owner), cname(wireName('bet.example.rpz.example')), SOA);
        expect(text).toMatch(/^(?:[\w*.\\-]+ (?:SOA|CNAME \.)\n){3}$/);
        expect(text.split('\n')[2]).toBe('bet.example.rpz.example. CNAME .');
      }),
    );
  });

  it('takes only what begins and ends with one SOA record of the zone', () => {
    const bet = cname(wireName('bet.example.rpz.example'));
    const newer = { ...SOA, rdata: Buffer.from(SOA.rdata ?? []).fill(8, 13, 17) };
    const other = { ...SOA, owner: wireName('other.example') };
    expect(() => textOf(bet, SOA)).toThrow('does not begin with its SOA record');
    expect(() => textOf(other, bet, SOA)).toThrow('does not begin with its SOA record');
    expect(() => textOf(SOA, bet, newer)).toThrow('ends with another serial');
    expect(() => textOf(SOA, bet, SOA, bet)).toThrow('sent records behind the end of the zone');
  });

  it('takes changes whose serials follow each other, from the serial that is there to the newest', () => {
    const soa = (serial: number): TestRecord => ({
      ...SOA,
      rdata: Buffer.from(SOA.rdata ?? []).fill(serial, 16, 17),
    });
    const bet = cname(wireName('bet.example.rpz.example'));
    const changes = (since: number, ...answers: TestRecord[]) => {
      const zone = new ZoneText(ZONE, since);
      const message = messageOf(soa(9), ...answers);
      const lines = zone.take(message, readAnswer(message, ID)).split('\n');
      const { isIncremental, isComplete } = zone;
      const types = lines.map((line) => line.split(' ')[1]).join(' ');
      return { isIncremental, isComplete, types };
    };
    const [added, removed] = [
      [soa(8), bet],
      [soa(7), bet],
    ];
    expect(changes(7, ...removed, soa(9), soa(9))).toMatchObject({
      types: 'SOA SOA CNAME SOA ',
      isIncremental: true,
      isComplete: true,
    });
    expect(changes(7, ...removed, ...added, soa(8), bet, soa(9), bet, soa(9))).toMatchObject({
      types: 'SOA SOA CNAME SOA CNAME SOA CNAME SOA CNAME ',
      isComplete: true,
    });
    expect(changes(7, ...removed, ...added)).toMatchObject({ isComplete: false });
    // The whole zone: its second record tells.
    expect(changes(7, bet, soa(9))).toMatchObject({ isIncremental: false, isComplete: true });
    expect(changes(7)).toMatchObject({ isIncremental: null, isComplete: false });
    const problem = 'sent changes that do not follow each other';
    expect(() => changes(7, ...removed, ...added, soa(7))).toThrow(problem);
    expect(() => changes(7, ...removed, ...added, soa(9))).toThrow(problem);
    expect(() => changes(6, ...removed, soa(9), soa(9))).toThrow('ends with another serial');
  });

  it('answers any bytes with a CatalogueError at most', () => {
    const seen = new Set<string>();
    const key = 'hmac-sha256:feed:AAAA';
    const rdata = Buffer.alloc(40, 1);
    const tsigRecord = { owner: wireName('feed'), type: 250, class: 255, rdata };
    const anyAnswer = damaged(
      fc.tuple(responseMessage, fc.boolean()).map(([message, isSigned]) => ({
        ...message,
        id: ID,
        flags: 0x8400,
        answers: [SOA, ...(message.answers ?? [])],
        additionals: [...(message.additionals ?? []), ...(isSigned ? [tsigRecord] : [])],
      })),
    );
    fc.assert(
      fc.property(anyAnswer, (message) => {
        const tsig = new Tsig('feed', [key]);
        const zone = new ZoneText(ZONE);
        const attempts = [
          () => serialOf(message, readAnswer(message, ID), ZONE),
          () => zone.take(message, readAnswer(message, ID)),
          () => new ZoneText(ZONE, 9).take(message, readAnswer(message, ID)),
          () => {
            tsig.verify(message, readAnswer(message, ID).tsigAt);
          },
        ];
        for (const attempt of attempts) {
          try {
            attempt();
            seen.add('taken');
          } catch (error) {
            if (!(error instanceof CatalogueError)) throw error;
            seen.add(error.message);
          }
        }
      }),
      { numRuns: 3_000 },
    );
    expect(seen).toContain('taken');
    expect(seen).toContain('sent a malformed DNS message');
    expect(seen).toContain('answered without a signature');
  });
});
