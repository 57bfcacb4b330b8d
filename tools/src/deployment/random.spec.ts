import { describe, expect, it } from 'vitest';
import { Random } from './random.js';

describe('Random', () => {
  it('gives the same numbers for the same seed, and each part its own stream', () => {
    const draw = (random: Random): number[] => Array.from({ length: 5 }, () => random.next());
    expect(draw(new Random(1))).toEqual(draw(new Random(1)));
    expect(draw(new Random(1).fork('a'))).toEqual(draw(new Random(1).fork('a')));
    expect(draw(new Random(1).fork('a'))).not.toEqual(draw(new Random(1).fork('b')));
    expect(draw(new Random(1))).not.toEqual(draw(new Random(2)));
  });
});
