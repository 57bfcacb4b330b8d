import { expect, it } from 'vitest';
import { parseOptions } from './options.js';

it('the options of test:rolling have defaults', () => {
  expect(parseOptions([])).toEqual({ rounds: 5, drainSeconds: 5 });
  expect(parseOptions(['--rounds', '2', '--drain', '0'])).toEqual({ rounds: 2, drainSeconds: 0 });
  expect(parseOptions(['--help'])).toBeNull();
});

it.each([
  ['--rounds', '0'],
  ['--drain', 'x'],
  ['--round', '1'],
])('%s %s is refused', (...args) => {
  expect(() => parseOptions(args)).toThrow(/--/);
});
