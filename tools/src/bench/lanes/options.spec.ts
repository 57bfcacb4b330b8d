import { describe, expect, it } from 'vitest';
import { readOptions } from './options.js';

const read = (...args: string[]): ReturnType<typeof readOptions> =>
  readOptions(args, ['zone', 'cached', 'mix']);

describe('readOptions', () => {
  it('compares one lane with two by default', () => {
    expect(read()).toMatchObject({ jobs: ['zone', 'cached'], lanes: [1, 2], rounds: 5 });
  });

  it('takes other numbers of lanes', () => {
    expect(read('--lanes', '1,2,4', '--jobs', 'mix')).toMatchObject({
      jobs: ['mix'],
      lanes: [1, 2, 4],
    });
  });

  it.each([
    [['--lanes', '0'], '--lanes: 0 is not an integer from 1 to 64'],
    [['--jobs', 'million'], '--jobs: there is no million'],
  ])('refuses %s and prints the help', (args, message) => {
    expect(read(...args)).toHaveProperty('error', expect.stringContaining(message));
    expect(read(...args)).toHaveProperty('error', expect.stringContaining('npm run bench:lanes'));
  });
});
