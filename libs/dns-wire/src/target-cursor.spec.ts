import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseResponse, Response } from './response.js';
import { TargetCursor } from './target-cursor.js';
import { decodeMessage, decodeName } from './testing/decode.js';
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
const cursor = new TargetCursor();
const scratch = new Uint8Array(255);

/** Targets in order; ends with `malformed` when the cursor says so; null when the response is malformed. */
function targetsOf(bytes: Uint8Array): string[] | null {
  if (!parseResponse(bytes, bytes.length, response)) return null;
  const targets: string[] = [];
  cursor.start(response);
  for (let size = cursor.next(scratch); ; size = cursor.next(scratch)) {
    if (size === TargetCursor.end) return targets;
    if (size === TargetCursor.malformed) return [...targets, 'malformed'];
    targets.push(presentationName(scratch.subarray(0, size)));
  }
}

const reply = (...answers: TestRecord[]) =>
  encodeMessage({
    flags: 0x8180,
    questions: [{ qname: wireName('www.example.com'), qtype: 1 }],
    answers,
  });
const cname = (rdata: Uint8Array) => ({ owner: pointerTo(12), type: 5, rdata });
const service = (type: number, target: Uint8Array) => ({
  owner: pointerTo(12),
  type,
  rdata: concat([0, 1], target, [0, 1, 0, 3, 2, 0x68, 0x32]),
});

describe('TargetCursor', () => {
  it('expands compressed CNAME targets in their order', () => {
    const bytes = reply(
      cname(concat([3], Buffer.from('cdn'), pointerTo(16))),
      { owner: pointerTo(16), type: 1, rdata: Uint8Array.of(192, 0, 2, 1) },
      cname(wireName('Edge.example.net')),
    );
    expect(targetsOf(bytes)).toEqual(['cdn.example.com', 'Edge.example.net']);
  });

  it('reads TargetNames of HTTPS and SVCB, and skips the root (RFC 9460 §2.5)', () => {
    const bytes = reply(
      service(65, wireName('svc.example.net')),
      service(65, wireName('.')),
      service(64, wireName('svc2.example.net')),
    );
    expect(targetsOf(bytes)).toEqual(['svc.example.net', 'svc2.example.net']);
  });

  it('ends at once when there is no answer', () => {
    expect(targetsOf(reply())).toEqual([]);
  });

  it.each([
    ['points at itself', reply(cname(pointerTo(45)))],
    ['points ahead', reply(cname(pointerTo(60)), cname(wireName('example.net')))],
    ['runs out of its rdata', reply(cname(Uint8Array.of(9, 0x61)), cname(wireName('a.example')))],
    ['is missing', reply({ owner: pointerTo(12), type: 65, rdata: Uint8Array.of(0) })],
  ])('reports a target as malformed that %s', (_, bytes) => {
    expect(targetsOf(bytes)).toEqual(['malformed']);
  });

  it('agrees with a simple parser on 20,000 damaged responses', { timeout: 120_000 }, () => {
    let found = 0;
    fc.assert(
      fc.property(damaged(responseMessage), (bytes) => {
        const targets = targetsOf(bytes);
        if (targets === null) return;
        found += targets.length;
        expect(targets.map((name) => name.replaceAll(/[^\w-]/g, '?'))).toEqual(
          slowTargets(bytes).map((name) => name.replaceAll(/\\\d{3}|[^\w-]/g, '?')),
        );
      }),
      { numRuns: 20_000 },
    );
    expect(found).toBeGreaterThan(2000);
  });
});

function slowTargets(bytes: Uint8Array): string[] {
  const targets: string[] = [];
  const { answers } = decodeMessage(bytes, { followPointers: false });
  for (const { type, rdataAt, rdata } of answers) {
    const skipped = type === 5 ? 0 : 2;
    if (![5, 64, 65].includes(type)) continue;
    try {
      const message = Buffer.from(bytes.subarray(0, rdataAt + rdata.length));
      const { name } = decodeName(message, rdataAt + skipped);
      if (name !== '.' || type === 5) targets.push(name);
    } catch {
      return [...targets, 'malformed']; // the oracle reports a fault by throwing
    }
  }
  return targets;
}
