import type { Client } from '@weir/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateTable } from './rate-table.js';

const ipv4 = (word: number): Client => ({
  family: 4,
  words: Uint32Array.of(word, 0, 0, 0),
  port: 1,
});
const ipv6 = (...words: number[]): Client => ({
  family: 6,
  words: Uint32Array.from(words),
  port: 1,
});

describe('RateTable', () => {
  it('admits so many in a second, and anew in the next', () => {
    const table = new RateTable(64, 1);
    const client = ipv4(0xc000_0201);
    const admitted = (second: number) =>
      Array.from({ length: 5 }, () => table.admits(client, second, 3));
    expect(admitted(7)).toEqual([true, true, true, false, false]);
    expect(admitted(8)).toEqual([true, true, true, false, false]);
    expect(table.admits(ipv4(0xc000_0202), 8, 3)).toBe(true);
  });

  it('takes an IPv6 /64 as one client, and no IPv4 address as an IPv6 one', () => {
    const table = new RateTable(64, 1);
    expect(table.admits(ipv6(0x2001_0db8, 1, 2, 3), 1, 1)).toBe(true);
    expect(table.admits(ipv6(0x2001_0db8, 1, 9, 9), 1, 1)).toBe(false);
    expect(table.admits(ipv6(0x2001_0db8, 2, 2, 3), 1, 1)).toBe(true);
    expect(table.admits(ipv4(1), 1, 1)).toBe(true);
    expect(table.admits(ipv6(0, 1, 0, 0), 1, 1)).toBe(true);
  });

  it('never turns away who has not used up his own, however many there are', () => {
    const step = fc.record({ client: fc.nat(200), pause: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1) });
    const steps = fc.array(step, { minLength: 200, maxLength: 1000 });
    let refused = 0;
    fc.assert(
      fc.property(steps, fc.integer(), (list, salt) => {
        const table = new RateTable(32, salt);
        const counts = new Map<string, number>();
        let second = 1;
        for (const { client, pause } of list) {
          second += pause;
          const key = `${second} ${client}`;
          const admitted = table.admits(ipv4(client), second, 2);
          counts.set(key, (counts.get(key) ?? 0) + 1);
          if (admitted) continue;
          refused++;
          expect(counts.get(key)).toBeGreaterThan(2);
        }
      }),
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('spreads clients whose addresses follow each other', () => {
    const table = new RateTable(4096, 12345);
    for (let i = 0; i < 1000; i++) table.admits(ipv4(0x0a00_0000 + i), 1, 1);
    const known = Array.from({ length: 1000 }, (_, i) => table.admits(ipv4(0x0a00_0000 + i), 1, 1));
    expect(known.filter((admitted) => admitted).length).toBeLessThan(20);
  });
});
