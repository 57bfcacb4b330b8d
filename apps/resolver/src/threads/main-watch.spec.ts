import { expect, it } from 'vitest';
import { MainWatch } from './thread-watch.js';

const TURN_MS = 50;

function watchFrom(startMs: number) {
  const word = new Int32Array(1);
  const watch = new MainWatch(word, 1_800);
  watch.update(startMs);
  let nowMs = startMs;
  /** The lane makes turns until then. */
  const lateAt = (untilMs: number) => {
    while (nowMs < untilMs) watch.update((nowMs = Math.min(nowMs + TURN_MS, untilMs)));
    return watch.isLate();
  };
  const standStill = (ms: number) => {
    nowMs += ms;
    watch.update(nowMs);
    return watch.isLate();
  };
  return { word, lateAt, standStill };
}

it('the main thread is late when it has made no turn for as long as clients wait', () => {
  const { word, lateAt } = watchFrom(10_000);
  expect(lateAt(11_799)).toBe(false);
  expect(lateAt(11_800)).toBe(true);
  word[0]++;
  expect(lateAt(11_850)).toBe(false);
  expect(lateAt(13_600)).toBe(false);
  expect(lateAt(13_700)).toBe(true);
});

it('the main thread is not late after a time in which the lane stood still too', () => {
  const { lateAt, standStill } = watchFrom(10_000);
  expect(lateAt(10_100)).toBe(false);
  expect(standStill(5_000)).toBe(false);
  expect(lateAt(16_799)).toBe(false);
  expect(lateAt(16_800)).toBe(true);
});

it('the main thread is always late where clients do not wait', () => {
  expect(new MainWatch(new Int32Array(1), 0).isLate()).toBe(false);
  const watch = new MainWatch(new Int32Array(1), 0);
  watch.update(0);
  expect(watch.isLate()).toBe(true);
});
