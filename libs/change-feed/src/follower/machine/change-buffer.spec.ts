import type { Change, Operation } from '@weir/config-model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChangeBuffer, MAX_CHANGES, MAX_OPERATIONS } from './change-buffer.js';

const rule: Operation = {
  type: 'delete',
  kind: 'domainRule',
  key: { profileId: 1, domainHash: 1 },
};
const change = (revision: number, operations: readonly Operation[] = [rule]): Change => {
  return { revision, digest: '', operations };
};
/** The revisions of this log that can be had, up to a limit. */
const kept = (buffer: ChangeBuffer, limit: number): number[] =>
  Array.from({ length: limit }, (_, revision) => revision).filter(
    (revision) =>
      buffer.nextAfter({ lineage: 'a', revision: revision - 1, digest: '' }) !== undefined,
  );

describe('ChangeBuffer', () => {
  it('keeps a bounded number of operations, whatever their number in each change', () => {
    const buffer = new ChangeBuffer();
    const large = Array<Operation>(5_000).fill(rule);
    for (let revision = 0; revision < 1_000; revision++) buffer.add('a', change(revision, large));
    const { length } = kept(buffer, 1_000);
    expect(length).toBeGreaterThan(0);
    expect(length * large.length).toBeLessThanOrEqual(MAX_OPERATIONS);
  });

  it('counts the items of the lists in an operation', () => {
    const buffer = new ChangeBuffer();
    const categoryIds = Array.from({ length: 10_000 }, (_, i) => i);
    const entity = { id: 1, categoryIds } as unknown as Extract<
      Operation,
      { type: 'put'; kind: 'profile' }
    >['entity'];
    const put: Operation = { type: 'put', kind: 'profile', entity };
    for (let revision = 0; revision < 100; revision++) buffer.add('a', change(revision, [put]));
    expect(kept(buffer, 100).length).toBeLessThan(MAX_OPERATIONS / categoryIds.length);
  });

  it('keeps one change of any size', () => {
    const buffer = new ChangeBuffer();
    buffer.add('a', change(7, Array<Operation>(2 * MAX_OPERATIONS).fill(rule)));
    expect(kept(buffer, 10)).toEqual([7]);
  });

  it('keeps those that come first, in whatever order they are received', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: MAX_OPERATIONS / 4 }), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(sizes, fc.infiniteStream(fc.nat()), (operations, order) => {
        const buffer = new ChangeBuffer();
        const changes = operations.map((count, revision) =>
          change(revision, Array<Operation>(count).fill(rule)),
        );
        const shuffled = changes
          .map((one) => ({ one, place: order.next().value as number }))
          .sort((a, b) => a.place - b.place);
        for (const { one } of shuffled) buffer.add('a', one);
        const revisions = kept(buffer, changes.length);
        // No change is missing before one that is there, and those that are there fit.
        expect(revisions).toContain(0);
        const total = revisions.reduce((sum, revision) => sum + operations[revision], 0);
        expect(total).toBeLessThanOrEqual(MAX_OPERATIONS);
      }),
      { numRuns: 50 },
    );
  });

  it('forgets what follows a change that another one takes the place of: the log was set back', () => {
    const buffer = new ChangeBuffer();
    for (let revision = 1; revision <= 6; revision++) buffer.add('a', change(revision));
    // Again, late and the same.
    buffer.add('a', change(2));
    expect(kept(buffer, 10)).toEqual([1, 2, 3, 4, 5, 6]);
    buffer.add('a', { ...change(4), digest: 'other' });
    expect(kept(buffer, 10)).toEqual([1, 2, 3, 4]);
    buffer.add('a', { ...change(5), digest: 'other' });
    expect(kept(buffer, 10)).toEqual([1, 2, 3, 4, 5]);
  });

  it('has room again for those that follow what is in force', () => {
    const buffer = new ChangeBuffer();
    for (let revision = 1; revision <= MAX_CHANGES + 5; revision++)
      buffer.add('a', change(revision));
    const head = (revision: number) => ({ lineage: 'a', revision, digest: '' });
    expect(buffer.nextAfter(head(MAX_CHANGES))).toBeUndefined();
    buffer.dropThrough(head(MAX_CHANGES));
    buffer.add('a', change(MAX_CHANGES + 1));
    expect(buffer.nextAfter(head(MAX_CHANGES))).toBeDefined();
  });
});
