import { describe, expect, it } from 'vitest';
import { parseProcessors } from './cpu.js';

describe('parseProcessors', () => {
  it('reads the output of taskset', () => {
    expect(parseProcessors("pid 7's current affinity list: 0,2-4\n")).toEqual([0, 2, 3, 4]);
    expect(parseProcessors("pid 7's current affinity list: 1\n")).toEqual([1]);
  });

  it('knows no processors when there is no taskset', () => {
    expect(parseProcessors('')).toEqual([]);
  });
});
