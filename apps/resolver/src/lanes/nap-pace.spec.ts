import { describe, expect, it } from 'vitest';
import { NapPace } from './lanes.js';

/** Eight looks that found queries, half a millisecond apart, then others. @returns after which a nap is due */
function napsAfterEight(found: readonly number[], gapMs = 0.5): number[] {
  const pace = new NapPace(0.2);
  let nowMs = 0;
  for (let look = 0; look < 8; look++) {
    expect(pace.onLook(1, nowMs)).toBe(false);
    nowMs += gapMs;
  }
  return found.flatMap((count, look) => (pace.onLook(count, nowMs + look * gapMs) ? [look] : []));
}

describe('NapPace', () => {
  it('has the main thread nap while looks that find queries follow one another within a millisecond', () => {
    expect(napsAfterEight([1, 9, 1])).toEqual([0, 1, 2]);
  });

  it('lets no query wait that comes more than a millisecond after the one before', () => {
    expect(napsAfterEight(Array<number>(100).fill(1), 1.1)).toEqual([]);
  });

  it('goes on after one look that found nothing, and ends after two in a row', () => {
    expect(napsAfterEight([1, 0, 1, 0, 0, 1])).toEqual([0, 1, 2, 3]);
  });

  it('counts a long nap as the time that it is', () => {
    const pace = new NapPace(2);
    for (let look = 0; look < 8; look++) pace.onLook(1, look * 2.5);
    expect(pace.onLook(1, 20)).toBe(true);
    expect(pace.onLook(1, 22.5)).toBe(true);
  });

  it('lets the main thread make its turns without naps while they are long', () => {
    const pace = new NapPace(0.2);
    for (let look = 0; look < 10; look++) pace.onLook(1, look * 0.5);
    expect(pace.onLook(1, 6)).toBe(false);
    expect(pace.onLook(1, 6.5)).toBe(false);
  });

  it('never has it nap where a nap takes no time', () => {
    const pace = new NapPace(0);
    for (let look = 0; look < 100; look++) expect(pace.onLook(1, look * 0.1)).toBe(false);
  });
});
