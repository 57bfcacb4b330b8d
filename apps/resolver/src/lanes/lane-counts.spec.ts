import { describe, expect, it } from 'vitest';
import { BATCH_BOUNDS, LaneCounts } from './lane-counts.js';

describe('LaneCounts', () => {
  it('counts each batch under the least bound that it does not exceed', () => {
    for (let size = 1; size <= 64; size++) {
      const counts = new LaneCounts(new Float64Array(LaneCounts.size));
      counts.countBatch(size);
      const bound = BATCH_BOUNDS.find((one) => size <= one);
      expect(counts.batches).toEqual(BATCH_BOUNDS.map((one) => (one === bound ? 1 : 0)));
      expect(counts.queries).toBe(size);
    }
  });
});
