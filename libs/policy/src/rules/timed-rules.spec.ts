import { RuleVerdict } from '@weir/config-model';
import { SuffixHashes } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Space } from '../memory/space.js';
import { ZoneClock } from '../schedules/zone-clock.js';
import { KEY } from '../testing/fixtures.js';
import { OWNER, type TimedRule, TimedRules } from './timed-rules.js';

const { allow, deny } = RuleVerdict;
const clock = new ZoneClock('UTC');
const LATE = 2 ** 33;

function timedRules(isOfProfiles: boolean): TimedRules {
  return new TimedRules({ tables: new Space(), records: new Space() }, isOfProfiles);
}

function namesWith(...hashes: number[]): SuffixHashes {
  const names = new SuffixHashes(KEY);
  for (const [i, hash] of hashes.entries()) {
    names.low[i] = hash;
    names.high[i] = Math.floor(hash / 2 ** 32);
  }
  return names;
}

describe('TimedRules', () => {
  // Few, so that they meet: some have half of the hash in common, or the low half with that of a grant.
  const HASHES = [5, 2 ** 32 + 5, 2 ** 52 + 5, 2 ** 52 + 2 ** 32 + 5, 7, 2 ** 40 + 7];
  const owner = fc.oneof(fc.nat({ max: 9 }), fc.constantFrom(2 ** 30, 2 ** 31 - 2, 2 ** 31 - 1));
  const until = fc.option(fc.oneof(fc.nat({ max: 20 }), fc.integer({ min: 9, max: LATE })));
  const step = fc.record({
    ...{ owner, until, domainHash: fc.constantFrom(...HASHES) },
    verdict: fc.constantFrom(allow, deny),
    isRemoved: fc.nat({ max: 3 }).map((dice) => dice === 0),
  });

  it.each([
    ['orders: of a name the lowest id that has not ended', false],
    ['grants: that of the profile', true],
  ])('finds the same as a scan, for %s', (_, isOfProfiles) => {
    const find = (all: TimedRule[], slot: number, hash: number, now: number): number => {
      const those = all.filter(
        (one) =>
          one.domainHash === hash &&
          (one.until ?? Infinity) > now &&
          (!isOfProfiles || one.owner === slot),
      );
      return Math.min(...those.map((one) => one.owner));
    };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const rules = timedRules(isOfProfiles);
        const all = new Map<string, { one: TimedRule; number: number }>();
        for (const { isRemoved, ...one } of steps) {
          // An order has one name, a profile one grant for each.
          const key = isOfProfiles ? `${one.owner} ${one.domainHash}` : String(one.owner);
          const known = all.get(key);
          if (known !== undefined) rules.remove(known.number);
          all.delete(key);
          if (!isRemoved) all.set(key, { one, number: rules.add(one) });
        }
        expect(rules.size).toBe(all.size);
        for (const { one, number } of all.values()) {
          expect(rules.read(number)).toEqual(one);
          expect(rules.find(one.owner, one.domainHash)).toBe(number);
        }
        const ends = [...all.values()].map(({ one }) => one.until ?? 0);
        const entries = [...all.values()].map(({ one }) => one);
        const slots = isOfProfiles ? [0, 3, 2 ** 31 - 1] : [-1];
        for (const now of [0, ...ends.flatMap((end) => [end - 1, end])].slice(0, 20)) {
          clock.nowMs = now * 1000;
          for (const slot of slots) {
            for (const hash of HASHES) {
              const found = rules.lookup.find(slot, namesWith(hash), 0, clock);
              const id = found < 0 ? Infinity : rules.lookup.owner(found);
              expect(id).toBe(find(entries, slot, hash, now));
            }
          }
        }
      }),
    );
  });

  const COUNT = 20_000;
  type Kind = [title: string, orderOf: (i: number) => [id: number, until: number | null]];
  it.each<Kind>([
    ['ascend with their ends', (i) => [i, i + 1]],
    ['descend with their ends', (i) => [COUNT - i, COUNT - i]],
    ['are multiples of a power of two', (i) => [i * 2 ** 16, i + 1]],
    ['have ended except for the last', (i) => [i, i === COUNT - 1 ? null : 1]],
  ])('looks at few of many orders for one name whose ids %s', (_, orderOf) => {
    const rules = timedRules(false);
    const domainHash = 2 ** 52 + 5;
    const names = namesWith(domainHash);
    for (let i = 0; i < COUNT; i++) {
      const [id, until] = orderOf(i);
      rules.add({ owner: id, until, domainHash, verdict: deny });
    }
    const read = vi.spyOn(rules.lookup.records, 'read');
    for (const now of [0, 1, COUNT / 2, COUNT - 1]) {
      clock.nowMs = now * 1000;
      read.mockClear();
      expect(rules.lookup.find(-1, names, 0, clock)).toBeGreaterThanOrEqual(0);
      const looked = read.mock.calls.filter(([, field]) => field === OWNER);
      expect(looked.length).toBeLessThanOrEqual(2 * 52);
    }
    read.mockRestore();
  });

  it('looks at no grant of another profile, whatever the number of them', () => {
    const rules = timedRules(true);
    const domainHash = 2 ** 52 + 5;
    for (let owner = 0; owner < COUNT; owner++) {
      rules.add({ owner, domainHash, verdict: allow, until: LATE });
    }
    clock.nowMs = 0;
    const read = vi.spyOn(rules.lookup.records, 'read');
    for (const slot of [0, 777, COUNT - 1, COUNT]) {
      read.mockClear();
      rules.lookup.find(slot, namesWith(domainHash), 0, clock);
      expect(read.mock.calls.filter(([, field]) => field === OWNER).length).toBeLessThanOrEqual(2);
    }
    read.mockRestore();
  });
});
