import { describe, expect, it } from 'vitest';
import { parse } from './command.js';

describe('the arguments of backup and restore', () => {
  const restore = { flags: ['replace', 'check'] as const };

  it('consist of one file and flags', () => {
    expect(parse(restore, ['weir.backup', '--replace'])).toEqual({
      file: 'weir.backup',
      flags: new Set(['replace']),
    });
    expect(parse(restore, ['--help'])).toBeNull();
  });

  it.each([[[]], [['a', 'b']]])('must name one file: %j is refused', (args) => {
    expect(() => parse(restore, args)).toThrow('name one file');
  });

  it('are refused when they are unknown', () => {
    expect(() => parse({ flags: [] }, ['a', '--replace'])).toThrow(/'--replace'.*--help says/);
  });
});
