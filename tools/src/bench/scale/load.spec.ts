import { describe, expect, it } from 'vitest';
import { sizeOf } from './configuration.js';
import { makeLoad, RECORD_HEADER_BYTES } from './load.js';

interface Query {
  readonly family: number;
  readonly address: number;
  readonly name: string;
}

function read(bytes: Buffer): Query[] {
  const queries: Query[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt16LE(at);
    const header = bytes.readUInt16LE(at + 2);
    const datagram = bytes.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + length);
    queries.push({
      family: datagram[13] === 0x12 ? 4 : 6,
      address: datagram.readUInt32BE(16),
      name: datagram.subarray(header + 12, -4).toString('latin1'),
    });
    at += RECORD_HEADER_BYTES + length;
  }
  return queries;
}

describe('makeLoad', () => {
  const load = makeLoad(sizeOf(0.001), 1_000, 20_000);
  const queries = read(load.queries);
  const shareOf = (wanted: (query: Query) => boolean): number =>
    queries.filter(wanted).length / queries.length;

  it('has a third of its clients behind NAPT ranges, and some with IPv6', () => {
    expect(shareOf(({ family, address }) => family === 4 && address >>> 16 === 0xc612)).toBeCloseTo(
      1 / 3,
      1,
    );
    expect(shareOf(({ family }) => family === 6)).toBeCloseTo(1 / 9, 1);
  });

  it('asks popular names more often than others', () => {
    const times = Map.groupBy(queries, ({ name }) => name);
    const counts = [...times.values()].map((all) => all.length).toSorted((a, b) => b - a);
    expect(counts[0]).toBeGreaterThan(10 * (counts[100] ?? 0));
  });

  it('asks each name once before, from a client without a profile', () => {
    const warmUp = read(load.warmUp);
    const names = warmUp.map(({ name }) => name);
    expect(names.toSorted()).toEqual([...new Set(queries.map(({ name }) => name))].toSorted());
    expect(warmUp.every(({ family, address }) => family === 6 && address === 0x3fff_0000)).toBe(
      true,
    );
  });

  it('is the same at every run', () => {
    const again = makeLoad(sizeOf(0.001), 1_000, 20_000);
    expect(again.queries.equals(load.queries)).toBe(true);
  });
});
