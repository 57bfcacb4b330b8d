import { describe, expect, it } from 'vitest';
import { ATTACKS, OTHER_LOADS } from './attacks/index.js';
import { HELP, parseOptions } from './options.js';

describe('parseOptions', () => {
  it('makes all attacks when none is named', () => {
    expect(parseOptions([])).toEqual({
      attacks: ATTACKS,
      seconds: 8,
      quietSeconds: 5,
      repeats: 2,
      keep: false,
    });
  });

  it('makes the named attacks, in the given order', () => {
    const { attacks } = parseOptions(['--only', 'strangers,dead-zone'])!;
    expect(attacks.map(({ name }) => name)).toEqual(['strangers', 'dead-zone']);
  });

  it('returns null when help is asked for, and the help names every attack', () => {
    expect(parseOptions(['--help'])).toBeNull();
    for (const { name } of [...ATTACKS, ...OTHER_LOADS]) expect(HELP).toContain(`  ${name} `);
  });

  it.each([
    ['--only', 'nothing'],
    ['--seconds', '0'],
    ['--repeats', 'x'],
    ['--sed', '1'],
    ['word'],
  ])('refuses %s %s', (...args) => {
    expect(() => parseOptions(args)).toThrow(/--/);
  });
});
