import { describe, expect, it } from 'vitest';
import { LaneCount, LaneCounts } from './lane-counts.js';

describe('LaneCounts', () => {
  it('keeps each count apart', () => {
    const counts = new LaneCounts(new Float64Array(LaneCounts.size));
    counts.batches.observe(3);
    counts.turns.observe(0.5);
    counts.count(LaneCount.answers, 7);
    counts.count(LaneCount.receiveErrors, 2);
    counts.count(LaneCount.naps);
    expect(counts).toMatchObject({ answers: 7, receiveErrors: 2, naps: 1 });
    const seen = [counts.batches, counts.turns];
    expect(seen.map(({ sum }) => sum)).toEqual([3, 0.5]);
    expect(seen.map(({ count }) => count)).toEqual([1, 1]);
  });

  it('counts each batch under the least bound that it does not exceed', () => {
    for (let size = 1; size <= 64; size++) {
      const counts = new LaneCounts(new Float64Array(LaneCounts.size));
      counts.batches.observe(size);
      const bound = String([1, 2, 4, 8, 16, 32, 64].find((one) => size <= one));
      const first = counts.batches.lines('x', {}).find(({ value }) => value === 1);
      expect(first?.labels).toEqual({ le: bound });
    }
  });
});
