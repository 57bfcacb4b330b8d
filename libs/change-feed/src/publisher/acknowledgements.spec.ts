import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AcknowledgementWaits, ResolverPositions } from './acknowledgements.js';

const positions = fc.record({
  lineage: fc.constantFrom('log', 'log', 'log', 'other log'),
  revision: fc.integer({ min: -1, max: 12 }),
});
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('add' as const), position: positions }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('remove' as const), which: fc.nat() }) },
);

it('knows what all resolvers have in force, and how many have each revision, whoever comes and goes', () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 5, maxLength: 80 }), (script) => {
      const counted = new ResolverPositions();
      const resolvers: { lineage: string; revision: number }[] = [];
      for (const step of script) {
        if (step.type === 'add') {
          counted.add(step.position);
          resolvers.push(step.position);
        } else if (resolvers.length > 0) {
          const [gone] = resolvers.splice(step.which % resolvers.length, 1);
          counted.remove(gone);
        }
        const own = resolvers.filter(({ lineage }) => lineage === 'log');
        const lowest = Math.min(...own.map(({ revision }) => revision));
        expect(counted.common('log')).toBe(own.length === resolvers.length ? lowest : -1);
        for (let revision = 0; revision <= 13; revision++) {
          const applied = own.filter((one) => one.revision >= revision).length;
          const total = resolvers.length;
          expect(counted.applied({ lineage: 'log', revision })).toEqual({ applied, total });
        }
      }
    }),
    { numRuns: 300, endOnFailure: true },
  );
});

it('ends each wait when its revision is finished, also when less is finished meanwhile', async () => {
  let finished = 3;
  const waits = new AcknowledgementWaits(
    () => finished,
    () => ({ applied: 0, total: 0 }),
  );
  const ended: number[] = [];
  const waiting = [6, 4, 5, 4].map((revision) =>
    waits.wait({ lineage: 'log', revision }, 600_000).then(() => ended.push(revision)),
  );
  const endAt = async (revision: number): Promise<number[]> => {
    finished = revision;
    waits.endFinished();
    await Promise.resolve();
    await Promise.resolve();
    return ended.splice(0);
  };
  expect(await endAt(-1)).toEqual([]);
  expect(await endAt(4)).toEqual([4, 4]);
  expect(await endAt(4)).toEqual([]);
  expect(await endAt(6)).toEqual([6, 5]);
  await Promise.all(waiting);
});
