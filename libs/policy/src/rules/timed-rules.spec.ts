import { RuleVerdict } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { Space } from '../memory/space.js';
import { TimedRules } from './timed-rules.js';

const { deny } = RuleVerdict;

describe('TimedRules', () => {
  it('has any number of orders for one name, in the order of their ids', () => {
    const rules = new TimedRules({ tables: new Space(), records: new Space() }, false);
    const owners = Array.from({ length: 3000 }, (_, i) => (i * 7919) % 3000);
    const numbers = owners.map((owner) =>
      rules.add({ owner, domainHash: 2 ** 52 + 5, verdict: deny, until: null }),
    );
    const chain = (): number[] => {
      const found: number[] = [];
      for (
        let rule = rules.lookup.first(5);
        rule >= 0;
        rule = rules.lookup.records.read(rule, 0) - 1
      )
        found.push(rules.lookup.owner(rule));
      return found;
    };
    expect(chain()).toEqual(owners.toSorted((a, b) => a - b));
    for (const [i, rule] of numbers.entries()) if (owners[i] % 3 !== 1) rules.remove(rule);
    expect(chain()).toEqual(owners.filter((owner) => owner % 3 === 1).sort((a, b) => a - b));
    expect(rules.size).toBe(1000);
  });

  it('keeps names apart that have half of their hash in common', () => {
    const rules = new TimedRules({ tables: new Space(), records: new Space() }, true);
    const rule = { owner: 3, verdict: deny, until: 2 ** 37 + 1 };
    const [one, other] = [5, 2 ** 40 + 5].map((domainHash) => rules.add({ ...rule, domainHash }));
    expect(rules.find(3, 5)).toBe(one);
    expect(rules.find(3, 2 ** 40 + 5)).toBe(other);
    expect(rules.find(3, 2 ** 41 + 5)).toBe(-1);
    expect(rules.find(4, 5)).toBe(-1);
    rules.remove(one);
    expect(rules.find(3, 5)).toBe(-1);
    expect(rules.read(other)).toEqual({ ...rule, domainHash: 2 ** 40 + 5 });
  });
});
