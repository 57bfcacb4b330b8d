import { describe, expect, it } from 'vitest';
import { Random } from './random.js';
import { messageFaults, processFaults, PROCESS_FAULTS } from './script.js';

describe('Random', () => {
  it('repeats what its seed gave, and gives each part a stream of its own', () => {
    const draw = (random: Random): number[] => Array.from({ length: 5 }, () => random.next());
    expect(draw(new Random(1))).toEqual(draw(new Random(1)));
    expect(draw(new Random(1).fork('a'))).toEqual(draw(new Random(1).fork('a')));
    expect(draw(new Random(1).fork('a'))).not.toEqual(draw(new Random(1).fork('b')));
    expect(draw(new Random(1))).not.toEqual(draw(new Random(2)));
  });
});

describe('the script', () => {
  it('is the same for the same seed, and has every fault in each round', () => {
    const first = (seed: number) =>
      processFaults(new Random(seed)).take(PROCESS_FAULTS.length).toArray();
    expect(first(1)).toEqual(first(1));
    expect(first(1)).not.toEqual(first(2));
    expect(new Set(first(1).map(({ kind }) => kind))).toEqual(new Set(PROCESS_FAULTS));
    expect(messageFaults(new Random(1)).take(4).toArray()).toHaveLength(4);
  });
});
