import { expect, it } from 'vitest';
import { MainWatch } from './thread-watch.js';

it('the main thread is late when it has made no turn for as long as clients wait', () => {
  const word = new Int32Array(1);
  const watch = new MainWatch(word, 1_800);
  const lateAt = (nowMs: number) => {
    watch.update(nowMs);
    return watch.isLate();
  };
  expect(lateAt(10_000)).toBe(false);
  expect(lateAt(11_799)).toBe(false);
  expect(lateAt(11_800)).toBe(true);
  word[0]++;
  expect(lateAt(11_850)).toBe(false);
  expect(lateAt(13_600)).toBe(false);
  expect(lateAt(13_700)).toBe(true);
});

it('the main thread is always late where clients do not wait', () => {
  expect(new MainWatch(new Int32Array(1), 0).isLate()).toBe(false);
  const watch = new MainWatch(new Int32Array(1), 0);
  watch.update(0);
  expect(watch.isLate()).toBe(true);
});
