import { describe, expect, it } from 'vitest';
import { growthOf } from './memory.js';

const samples = (
  heapOf: (i: number) => number,
  rssOf: (i: number) => number = () => 100,
  resourcesOf: (i: number) => number = () => 30,
) =>
  Array.from({ length: 90 }, (_, i) => ({
    second: i,
    rss: rssOf(i),
    heap: heapOf(i),
    external: 5,
    resources: resourcesOf(i),
  }));

describe('growthOf', () => {
  it('reports nothing for a heap that goes up and down', () => {
    expect(growthOf(samples((i) => 30 + (i % 10) * 4))).toBeNull();
  });

  it('reports nothing for garbage that lies for a while', () => {
    const rssOf = (i: number): number => (i % 20 < 10 ? 200 : 200 + i);
    expect(growthOf(samples(() => 30, rssOf))).toBeNull();
  });

  it('ignores growth at the start', () => {
    expect(
      growthOf(
        samples(
          (i) => Math.min(i, 25) * 10,
          (i) => 100 + Math.min(i, 25) * 10,
        ),
      ),
    ).toBeNull();
  });

  it('reports a growing heap, and growing memory outside of it', () => {
    expect(growthOf(samples((i) => 30 + (i % 10) * 4 + i / 3))).toMatch(/heap by 1\d\.\d MiB/);
    expect(
      growthOf(
        samples(
          () => 30,
          (i) => 100 + i,
        ),
      ),
    ).toMatch(/resident memory by 30/);
  });

  it('reports sockets and timers that stay open', () => {
    const withSockets = (resourcesOf: (i: number) => number) =>
      samples(
        () => 30,
        () => 100,
        resourcesOf,
      );
    expect(growthOf(withSockets((i) => 30 + (i % 10) * 5))).toBeNull();
    expect(growthOf(withSockets((i) => 30 + i))).toBe('sockets and timers by 30');
  });
});
