import { describe, expect, it } from 'vitest';
import { NapPace } from './nap-pace.js';

/** Eight turns that found queries, half a millisecond apart, then others. @returns after which a nap is due */
function napsAfterEight(found: readonly number[], gapMs = 0.5): number[] {
  const pace = new NapPace(0.2);
  let nowMs = 0;
  for (let turn = 0; turn < 8; turn++) {
    expect(pace.onTurn(1, nowMs)).toBe(false);
    nowMs += gapMs;
  }
  return found.flatMap((count, turn) => (pace.onTurn(count, nowMs + turn * gapMs) ? [turn] : []));
}

describe('NapPace', () => {
  it('has a lane nap while turns that find queries follow one another within a millisecond', () => {
    expect(napsAfterEight([1, 9, 1])).toEqual([0, 1, 2]);
  });

  it('lets no query wait that comes more than a millisecond after the one before', () => {
    expect(napsAfterEight(Array<number>(100).fill(1), 1.1)).toEqual([]);
  });

  it('goes on after one turn that found nothing, and ends after two in a row', () => {
    expect(napsAfterEight([1, 0, 1, 0, 0, 1])).toEqual([0, 1, 2, 3]);
  });

  it('counts a long nap as the time that it is', () => {
    const pace = new NapPace(2);
    for (let turn = 0; turn < 8; turn++) pace.onTurn(1, turn * 2.5);
    expect(pace.onTurn(1, 20)).toBe(true);
    expect(pace.onTurn(1, 22.5)).toBe(true);
  });

  it('has no naps while turns are long', () => {
    const pace = new NapPace(0.2);
    for (let turn = 0; turn < 10; turn++) pace.onTurn(1, turn * 0.5);
    expect(pace.onTurn(1, 6)).toBe(false);
    expect(pace.onTurn(1, 6.5)).toBe(false);
  });

  it('never has it nap where a nap takes no time', () => {
    const pace = new NapPace(0);
    for (let turn = 0; turn < 100; turn++) expect(pace.onTurn(1, turn * 0.1)).toBe(false);
  });
});
