import { BATCH } from '@weir/udp-batch';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { createLane } from '../testing/lane-without-thread.js';

const ROUNDS = 7;
const TURNS = 200;

describe('a turn of a lane', () => {
  // After a batch that is not full it naps.
  it.each([BATCH, BATCH - 1])(
    'allocates nothing, from socket to socket (%i queries)',
    (queries) => {
      const { turn, counts } = createLane(queries);
      const turns = (): void => {
        for (let i = 0; i < TURNS; i++) turn();
      };
      for (let i = 0; i < 4; i++) turns();
      const grown: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const before = getHeapStatistics().used_heap_size;
        turns();
        grown.push(getHeapStatistics().used_heap_size - before);
      }
      expect(counts.answers).toBeGreaterThan((TURNS * ROUNDS * BATCH) / 2);
      // The median, because garbage collection or compilation may disturb some rounds. The calls of libc may leave some
      // words a turn; one small object for each query would be 16 bytes.
      expect(grown.sort((x, y) => x - y)[ROUNDS >> 1] / (TURNS * BATCH)).toBeLessThan(8);
    },
  );
});
