import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.js';

const read = (...args: string[]): ReturnType<typeof parseOptions> =>
  parseOptions(args, ['zone', 'cached', 'mix']);

describe('parseOptions', () => {
  it('compares one lane with two by default', () => {
    expect(read()).toMatchObject({ jobs: ['zone', 'cached'], lanes: [1, 2], rounds: 5 });
  });

  it('takes other numbers of lanes', () => {
    expect(read('--lanes', '0,1,4', '--jobs', 'mix')).toMatchObject({
      jobs: ['mix'],
      lanes: [0, 1, 4],
    });
  });

  it.each([
    [['--lanes', '65'], '--lanes: "65" is not an integer from 0 to 64'],
    [['--lanes', '1,'], '--lanes: "" is not an integer from 0 to 64'],
    [['--jobs', 'million'], '--jobs: there is no "million"'],
  ])('refuses %s and prints the help', (args, message) => {
    expect(read(...args)).toHaveProperty('error', expect.stringContaining(message));
    expect(read(...args)).toHaveProperty('error', expect.stringContaining('npm run bench:lanes'));
  });
});
