import { expect, it } from 'vitest';
import { csvOf } from './files.js';

it('CSV has every cell in quotes, and those of null empty', () => {
  expect(
    csvOf([
      ['id', 'text'],
      [-7, 'a "b", c\nd'],
      [8, null],
    ]),
  ).toBe('"id","text"\r\n"-7","a ""b"", c\nd"\r\n"8",""\r\n');
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)'])('the text %s is no formula', (text) => {
  expect(csvOf([[text]])).toBe(`"'${text}"\r\n`);
});
