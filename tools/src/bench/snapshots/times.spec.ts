import { expect, it } from 'vitest';
import { showTimes } from './times.js';

it('says when the first, half and all of them had ended', () => {
  expect(showTimes([4_000, 1_000, 3_000, 2_000])).toBe(
    'first after 1.0 s, half after 2.0 s, all after 4.0 s',
  );
  expect(showTimes([1_500])).toBe('first after 1.5 s, half after 1.5 s, all after 1.5 s');
});
