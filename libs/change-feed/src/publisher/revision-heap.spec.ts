import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RevisionHeap } from './acknowledgements.js';

const revisions = fc.integer({ min: 0, max: 12 });
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('add' as const), revision: revisions }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom('replace' as const, 'remove' as const),
      revision: revisions,
      which: fc.nat(),
    }),
  },
);

it('has the lowest revision first and counts those below any, whatever was added, replaced and removed', () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 5, maxLength: 80 }), (script) => {
      const heap = new RevisionHeap<{ revision: number; place: number }>();
      let items: { revision: number; place: number }[] = [];
      for (const step of script) {
        const item = { revision: step.revision, place: 0 };
        if (step.type === 'add') {
          heap.add(item);
          items = [...items, item];
        } else if (items.length > 0) {
          const old = items[step.which % items.length];
          if (step.type === 'remove') heap.remove(old);
          else heap.replace(old, item);
          items = items.filter((one) => one !== old);
          if (step.type === 'replace') items.push(item);
        }
        const sorted = items.map(({ revision }) => revision).sort((a, b) => a - b);
        expect([heap.size, heap.first?.revision]).toEqual([sorted.length, sorted[0]]);
        for (let revision = 0; revision <= 13; revision++) {
          expect(heap.countBelow(revision)).toBe(sorted.filter((one) => one < revision).length);
        }
      }
    }),
    { numRuns: 300, endOnFailure: true },
  );
});
