import { expect, it } from 'vitest';
import { network6Row, networkRow, sizeOf } from './configuration.js';

// A follower that found fewer networks than the feed has sent would refuse the snapshot.
it('no two networks of the full size are the same', () => {
  const { networks, networks6 } = sizeOf(1);
  const ipv4 = Float64Array.from({ length: networks }, (_, i) => {
    const [address, length] = networkRow(i, 0);
    return address * 64 + length;
  });
  const ipv6 = Float64Array.from({ length: networks6 }, (_, i) => {
    const [first = 0, second = 0] = network6Row(i, 0);
    return (first % 2 ** 20) * 2 ** 32 + second;
  });
  for (const sorted of [ipv4.sort(), ipv6.sort()]) {
    expect(sorted.findIndex((one, i) => one === sorted[i + 1])).toBe(-1);
  }
});

it('a share of the size has at least a hundred of everything', () => {
  expect(sizeOf(0.01)).toMatchObject({ networks: 10_000, profiles: 1_000, rules: 100_000 });
  expect(Object.values<number>({ ...sizeOf(0.000001) })).toEqual(new Array(6).fill(100));
});
