import fc from 'fast-check';
import { expect, it } from 'vitest';
import { otherTurns } from '../testing/other-turns.js';
import { isLong, jsonText } from './json-text.js';

it('is the text of JSON.stringify, for long lists too', async () => {
  const list = fc.tuple(fc.array(fc.jsonValue(), { minLength: 1 }), fc.constantFrom(1, 1023, 1500));
  const items = list.map(([some, times]) => Array.from({ length: times }, () => some).flat());
  const value = fc.oneof(
    items,
    fc.dictionary(fc.string(), fc.oneof(items, fc.jsonValue(), fc.constant(undefined)), {
      maxKeys: 3,
    }),
  );
  await fc.assert(
    fc.asyncProperty(value, async (one) => {
      expect(await jsonText(one)).toBe(JSON.stringify(one));
    }),
    { numRuns: 50 },
  );
});

it('is made in slices only where a list is long', () => {
  const long = Array.from({ length: 2_000 }, (_, i) => i);
  expect([long, { long }].map(isLong)).toEqual([true, true]);
  expect([[1], { short: [1] }, null, 'text', undefined].map(isLong)).toEqual(
    Array.from({ length: 5 }, () => false),
  );
});

it('lets others run while a long text is made', async () => {
  const rules = Array.from({ length: 100_000 }, (_, id) => ({ profile_id: 1, id, type: 'deny' }));
  expect(await otherTurns(() => jsonText(rules))).toBeGreaterThan(0);
  expect(await otherTurns(() => jsonText({ rules }))).toBeGreaterThan(0);
});
