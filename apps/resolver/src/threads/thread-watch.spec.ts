import { expect, it } from 'vitest';
import { ThreadWatch } from './thread-watch.js';

/** Checks a thread that gives no heartbeat in 20 seconds. @returns the seconds at which it was found to hang */
function check(isRunnable: boolean, cpuSecondsASecond: number): number[] {
  const watch = new ThreadWatch(5);
  watch.hangs(7, { isRunnable, cpuSeconds: 100 });
  return Array.from({ length: 20 }, (_, i) => i + 1).filter((second) =>
    watch.hangs(7, { isRunnable, cpuSeconds: 100 + second * cpuSecondsASecond }),
  );
}

it('a thread that sleeps without a heartbeat hangs after five seconds', () => {
  expect(check(false, 0)).toEqual([5, 10, 15, 20]);
});

it('a thread that runs without a heartbeat hangs after five seconds of processor time', () => {
  expect(check(true, 1)).toEqual([5, 10, 15, 20]);
  expect(check(true, 0.5)).toEqual([10, 20]);
});

it('a thread that waits for a processor does not hang', () => {
  expect(check(true, 0)).toEqual([]);
});

it('a thread that gives heartbeats does not hang', () => {
  const watch = new ThreadWatch(5);
  for (let second = 1; second < 20; second++) {
    expect(watch.hangs(second, { isRunnable: false, cpuSeconds: second })).toBe(false);
  }
});
