import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FaultList, type InvalidRequestError } from '../../http/validation/fault.js';
import { clashes } from '../../resources/networks/napt/port-ranges.js';
import { Draft } from '../draft/draft.js';
import { findDraftFaults } from './draft-faults.js';

/** The locations of the faults of a draft. */
function placesOf(draft: Draft): string[] {
  const faults = new FaultList();
  findDraftFaults(draft, new Map(), faults);
  try {
    faults.throwIfAny();
    return [];
  } catch (error) {
    return (error as InvalidRequestError).faults.map(({ loc }) => loc.slice(1).join('.'));
  }
}

function draftWithProfile(): Draft {
  const draft = new Draft();
  draft.profiles.add({
    id: 1,
    pageId: null,
    whiteListOnly: false,
    emptyDnsAnswer: false,
    appawarePriorityOverBwlists: false,
    categoryIds: [],
    applicationRules: [],
  });
  return draft;
}

const network = fc.record({
  address: fc.integer({ min: 0, max: 40 }).map((n) => 0xc000_0200 + n),
  prefixLength: fc.integer({ min: 26, max: 32 }),
});
const range = fc
  .tuple(
    fc.integer({ min: 0, max: 12 }),
    fc.integer({ min: 0, max: 12 }),
    fc.integer({ min: 0, max: 2 }),
  )
  .map(([a, b, address]) => ({ address, lowerPort: Math.min(a, b), upperPort: Math.max(a, b) }));

describe('findDraftFaults', () => {
  it('reports each network with the address or prefix of an earlier one', () => {
    fc.assert(
      fc.property(fc.array(network, { maxLength: 40 }), (networks) => {
        const draft = draftWithProfile();
        for (const one of networks) draft.ipv4Networks.add({ ...one, profileId: 1 });
        const prefix = (n: (typeof networks)[number]): string =>
          `${Math.floor(n.address / 2 ** (32 - n.prefixLength))}/${n.prefixLength}`;
        const expected = networks.flatMap((one, i) => {
          const before = networks.slice(0, i);
          const clash = before.some((b) => b.address === one.address || prefix(b) === prefix(one));
          return clash ? [`nets.${i}.ip`] : [];
        });
        expect(placesOf(draft)).toEqual(expected);
      }),
    );
  });

  it('reports clashing port ranges of an address, enough that the rest is allowed', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 15 }), (ranges) => {
        const draft = draftWithProfile();
        for (const one of ranges) draft.napts.add({ ...one, profileId: 1 });
        const places = placesOf(draft);
        const blamed = new Set(places.map((place) => Number(place.split('.')[1])));
        const any = (list: readonly (typeof ranges)[number][]): boolean =>
          list.some((a, i) =>
            list.slice(0, i).some((b) => a.address === b.address && clashes(a, b)),
          );
        expect(blamed.size > 0).toBe(any(ranges));
        expect(any(ranges.filter((_, i) => !blamed.has(i)))).toBe(false);
      }),
    );
  });

  it('marks repeated domain rules, and reports contradicting ones', () => {
    const item = fc.record({
      verdict: fc.constantFrom(1 as const, 2 as const),
      hashes: fc.array(
        fc.integer({ min: 0, max: 6 }).map((n) => n * 2 ** 40),
        { maxLength: 4 },
      ),
    });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 6 }), (items) => {
        const draft = draftWithProfile();
        for (const [at, { verdict, hashes }] of items.entries()) {
          for (const hash of hashes) draft.domainRules.addDomain(at, hash);
          draft.domainRules.addItem(at, 1, verdict);
        }
        const first = new Map<number, number>();
        const expected: string[] = [];
        let repeated = 0;
        for (const [at, { verdict, hashes }] of items.entries()) {
          for (const [i, hash] of hashes.entries()) {
            const earlier = first.get(hash);
            if (earlier === undefined) first.set(hash, verdict);
            else if (earlier === verdict) repeated++;
            else expected.push(`bw_lists.${at}.domains.${i}`);
          }
        }
        expect(placesOf(draft)).toEqual(expected);
        const { domainRules } = draft;
        const rows = Array.from({ length: domainRules.count }, (_, row) => row);
        expect(rows.filter((row) => domainRules.isRepeated(row))).toHaveLength(repeated);
        expect(domainRules.distinctCount).toBe(rows.length - repeated);
      }),
    );
  });

  it('finds no fault in a draft that had none, also when it is checked again', () => {
    const draft = draftWithProfile();
    for (const [at, verdict] of ([1, 2] as const).entries()) {
      for (let domain = 0; domain < 2; domain++) draft.domainRules.addDomain(at, verdict);
      draft.domainRules.addItem(at, 1, verdict);
    }
    expect(placesOf(draft)).toEqual([]);
    expect(placesOf(draft)).toEqual([]);
    expect(draft.domainRules.distinctCount).toBe(2);
  });
});
