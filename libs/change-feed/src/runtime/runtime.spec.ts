import { expect, it } from 'vitest';
import { retryDelayMs } from './runtime.js';

it('doubles the delay after each failure up to two seconds, less a jitter of up to a half', () => {
  expect([0, 1, 5, 6, 1_000].map((failures) => retryDelayMs(failures, 1))).toEqual([
    50, 100, 1_600, 2_000, 2_000,
  ]);
  expect(retryDelayMs(3, 0)).toBe(200);
});
