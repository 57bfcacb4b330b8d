import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Digest, EMPTY_DIGEST } from './digest.js';
import { toRow } from './rows.js';
import { kindAndEntity } from './testing/arbitraries.js';

type Counted = { kind: Parameters<typeof toRow>[0]; entity: Parameters<typeof toRow>[1] };

const digestOf = (entities: readonly Counted[]): Digest => {
  const digest = new Digest();
  for (const { kind, entity } of entities) digest.add(kind, toRow(kind, entity));
  return digest;
};

describe('Digest', () => {
  it('does not depend on order', () => {
    fc.assert(
      fc.property(fc.array(kindAndEntity), (entities) => {
        expect(digestOf(entities.toReversed()).toString()).toBe(digestOf(entities).toString());
      }),
    );
  });

  it('is the empty digest again when everything was removed', () => {
    fc.assert(
      fc.property(fc.array(kindAndEntity), (entities) => {
        const digest = digestOf(entities);
        for (const { kind, entity } of entities) digest.remove(kind, toRow(kind, entity));
        expect(digest.toString()).toBe(EMPTY_DIGEST);
      }),
    );
  });

  it('can be parsed from its text and updated further', () => {
    const entity = { id: 7, type: 1 };
    const digest = digestOf([{ kind: 'blockPage', entity }]);
    const continued = Digest.parse(digest.toString());
    continued.remove('blockPage', toRow('blockPage', entity));
    expect(continued.toString()).toBe(EMPTY_DIGEST);
    expect(() => Digest.parse('123')).toThrow(RangeError);
  });

  it('differs for entities that differ in one value, in kind, or in the position of a value', () => {
    const seen = new Set<string>();
    const add = (kind: Counted['kind'], row: readonly (number | null)[]): void => {
      const digest = new Digest();
      digest.add(kind, row);
      seen.add(digest.toString());
    };
    for (let id = 0; id < 50_000; id++) {
      add('blockPage', [id, 0]);
      add('blockPage', [id, 1]);
      add('domainRule', [0, id * 2 ** 32, 1]);
      add('domainRule', [id + 1, 0, 2]);
    }
    add('profile', [1, null, 0, 0, 0]);
    add('profile', [1, 0, 0, 0, 0]);
    add('profile', [1, 4294967295, 0, 0, 0]);
    expect(seen.size).toBe(4 * 50_000 + 3);
  });
});
