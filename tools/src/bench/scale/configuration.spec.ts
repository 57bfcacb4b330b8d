import { expect, it } from 'vitest';
import { network6Row, networkRow, sizeOf } from '../../../bench/policy/configuration.mjs';

// A follower that found fewer networks than the feed has sent would refuse the snapshot.
it('no two networks of the full size are the same', () => {
  const { networks, networks6 } = sizeOf('1');
  const ipv4 = new Set<number>();
  for (let i = 0; i < networks; i++) {
    const [address, length] = networkRow(i, 0);
    ipv4.add(address * 64 + length);
  }
  expect(ipv4.size).toBe(networks);
  const ipv6 = new Set<number>();
  for (let i = 0; i < networks6; i++) {
    const [first = 0, second = 0] = network6Row(i, 0);
    ipv6.add((first % 2 ** 20) * 2 ** 32 + second);
  }
  expect(ipv6.size).toBe(networks6);
});

it('a share of the size has at least a hundred of everything', () => {
  expect(sizeOf('0.01')).toMatchObject({ networks: 10_000, profiles: 1_000, rules: 100_000 });
  expect(Object.values<number>({ ...sizeOf('0.000001') })).toEqual(new Array(6).fill(100));
});
