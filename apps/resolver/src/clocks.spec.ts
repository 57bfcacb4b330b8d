import { describe, expect, it } from 'vitest';
import { BatchClocks } from './clocks.js';

describe('BatchClocks', () => {
  it('stand still during a batch, and are real before and after it', () => {
    const real = { wall: 1_000, monotonic: 5 };
    const clocks = new BatchClocks({ wallMs: () => real.wall, monotonicMs: () => real.monotonic });
    const times = () => [clocks.wallMs(), clocks.monotonicMs()];
    const pass = () => {
      real.wall += 10;
      real.monotonic += 10;
    };
    expect(times()).toEqual([1_000, 5]);
    pass();
    clocks.enter();
    pass();
    expect(times()).toEqual([1_010, 15]);
    clocks.leave();
    expect(times()).toEqual([1_020, 25]);
    clocks.enter();
    expect(times()).toEqual([1_020, 25]);
  });
});
