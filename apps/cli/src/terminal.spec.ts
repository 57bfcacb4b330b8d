import { describe, expect, it } from 'vitest';
import { table } from './terminal.js';

describe('table', () => {
  it('counts the columns that a terminal gives to each character', () => {
    const rows = [
      ['東京', 'a'],
      ['😀é', 'a'],
      ['abcd', 'a'],
      ['\u001b[1mab\u001b[22m', 'a'],
    ];
    expect(table(rows, 2)).toEqual(['東京  a', '😀é   a', 'abcd  a', '\u001b[1mab\u001b[22m    a']);
  });
});
