import { describe, expect, it } from 'vitest';
import { Random } from '../deployment/random.js';
import { messageFaults, processFaults, PROCESS_FAULTS } from './script.js';

describe('the script of faults', () => {
  it('is the same for the same seed, and has every fault in each round', () => {
    const first = (seed: number) =>
      processFaults(new Random(seed)).take(PROCESS_FAULTS.length).toArray();
    expect(first(1)).toEqual(first(1));
    expect(first(1)).not.toEqual(first(2));
    expect(new Set(first(1).map(({ kind }) => kind))).toEqual(new Set(PROCESS_FAULTS));
    expect(messageFaults(new Random(1)).take(4).toArray()).toHaveLength(4);
  });
});
