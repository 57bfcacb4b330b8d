import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.js';

const read = (...args: string[]): ReturnType<typeof parseOptions> =>
  parseOptions(args, ['zone', 'mix'], ['Weir', 'PowerDNS Recursor']);

describe('parseOptions', () => {
  it('measures every job and server five times by default', () => {
    expect(read()).toEqual({
      jobs: ['zone', 'mix'],
      servers: ['Weir', 'PowerDNS Recursor'],
      rounds: 5,
      seconds: 5,
      rate: 20_000,
    });
  });

  it('takes names in any case', () => {
    expect(read('--jobs', 'mix', '--servers', 'weir,powerdns recursor')).toMatchObject({
      jobs: ['mix'],
      servers: ['Weir', 'PowerDNS Recursor'],
    });
  });

  it.each([
    [['--jobs', 'cache'], '--jobs: there is no "cache"'],
    [['--rounds', '0'], '--rounds: "0" is not an integer from 1 to 100'],
    [['--second', '1'], "Unknown option '--second'"],
  ])('refuses %s and prints the help', (args, message) => {
    const error = 'error' in read(...args) ? (read(...args) as { error: string }).error : '';
    expect(error).toContain(message);
    expect(error).toContain('npm run bench:dns');
  });

  it('prints the help', () => {
    expect(read('--help')).toHaveProperty('help');
  });
});
