import { describe, expect, it } from 'vitest';
import { flag, integer, list, name, parseOptions, share, value } from './command.js';

const OPTIONS = {
  keep: flag,
  rounds: value(integer(1, 10), 3),
  lanes: value(list(integer(0, 64)), undefined),
  servers: value(list(name(['Weir', 'unbound'])), ['Weir']),
  scale: value(share, 1),
};
const parse = (...args: string[]) => parseOptions(OPTIONS, args);

describe('parseOptions', () => {
  it('gives what an option is when it is not given', () => {
    expect(parse()).toEqual({ keep: false, rounds: 3, servers: ['Weir'], scale: 1 });
  });

  it('converts values, and finds names in any case', () => {
    const args = ['--keep', '--rounds', '10', '--lanes', '1,2', '--servers=UNBOUND,weir'];
    expect(parse(...args, '--scale', '0.5')).toEqual({
      ...{ keep: true, rounds: 10, lanes: [1, 2] },
      ...{ servers: ['unbound', 'Weir'], scale: 0.5 },
    });
  });

  it('returns null when help is asked for', () => {
    expect(parse('--help')).toBeNull();
    expect(parse('-h', '--rounds', 'x')).toBeNull();
  });

  it.each([
    ['--rounds', '11'],
    ['--rounds=-1'],
    ['--rounds', 'x'],
    ['--lanes', '1,65'],
    ['--servers', 'weeds'],
    ['--scale', '0'],
    ['--keep=yes'],
    ['--round', '1'],
    ['word'],
  ])('refuses %s %s in one line that names the option', (...args) => {
    expect(() => parse(...args)).toThrow(/^(.*--|Unexpected argument).*\(see --help\)$/);
  });
});
