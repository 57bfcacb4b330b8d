import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.js';

describe('parseOptions', () => {
  it('uses the random seed when none is given', () => {
    expect(parseOptions([], 7)).toEqual({
      seed: 7,
      seconds: 60,
      writers: 12,
      short: false,
      plant: null,
      keep: false,
    });
    expect(parseOptions(['--seed', '3', '--short'], 7)).toMatchObject({ seed: 3, short: true });
  });

  it('returns null when help is asked for', () => {
    expect(parseOptions(['--help'], 7)).toBeNull();
  });

  it.each([
    ['--seed', '-1'],
    ['--seconds', '0'],
    ['--writers', 'x'],
    ['--sed', '1'],
    ['--plant', 'weeds'],
    ['word'],
  ])('refuses %s %s', (...args) => {
    expect(() => parseOptions(args, 7)).toThrow(/--/);
  });
});
