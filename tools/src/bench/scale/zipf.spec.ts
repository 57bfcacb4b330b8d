import { describe, expect, it } from 'vitest';
import { Random } from '../../deployment/random.js';
import { Zipf } from './queries.js';

describe('Zipf', () => {
  it('gives the rank in whose part of the sum the number lies', () => {
    const zipf = new Zipf(3, 1); // weights 1, 1/2, 1/3
    const sum = 1 + 1 / 2 + 1 / 3;
    expect(zipf.rank(0)).toBe(0);
    expect(zipf.rank(0.999 / sum)).toBe(0);
    expect(zipf.rank(1.001 / sum)).toBe(1);
    expect(zipf.rank(1.499 / sum)).toBe(1);
    expect(zipf.rank(1.501 / sum)).toBe(2);
    expect(zipf.rank(1 - Number.EPSILON)).toBe(2);
  });

  it('draws ranks as often as the law says', () => {
    const [count, draws] = [1_000, 200_000];
    const zipf = new Zipf(count, 0.91);
    const random = new Random(1);
    const drawn = new Float64Array(count);
    for (let i = 0; i < draws; i++) {
      const rank = zipf.rank(random.next());
      drawn[rank] = (drawn[rank] ?? 0) + 1;
    }
    for (const rank of [1, 3, 9]) {
      const ratio = (drawn[0] ?? 0) / (drawn[rank] ?? 0);
      expect(ratio / (rank + 1) ** 0.91).toBeCloseTo(1, 1);
    }
    expect(drawn.every((times) => times > 0)).toBe(true);
  });
});
