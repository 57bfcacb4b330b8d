import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.js';

describe('parseOptions', () => {
  it('measures the full size by default', () => {
    expect(parseOptions([])).toEqual({ scale: 1, rounds: 3, seconds: 5, rate: 20_000 });
  });

  it('takes a share of the size', () => {
    expect(parseOptions(['--scale', '0.01', '--rounds', '1'])).toMatchObject({
      scale: 0.01,
      rounds: 1,
    });
  });

  it.each([
    [['--scale', '0'], '--scale: "0" is not a number above 0 and at most 1'],
    [['--scale', '2'], '--scale: "2" is not a number above 0 and at most 1'],
    [['--rounds', '1.5'], '--rounds: "1.5" is not an integer from 1 to 100'],
    [['--sizes', '1'], "Unknown option '--sizes'"],
  ])('refuses %s and prints the help', (args, message) => {
    const read = parseOptions(args);
    expect(read).toHaveProperty('error', expect.stringContaining(message));
    expect(read).toHaveProperty('error', expect.stringContaining('npm run bench:scale'));
  });

  it('prints the help', () => {
    expect(parseOptions(['--help'])).toHaveProperty('help');
  });
});
