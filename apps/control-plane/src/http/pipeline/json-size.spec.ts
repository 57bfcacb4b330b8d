import { describe, expect, it } from 'vitest';
import { JsonSize } from './parse-body.js';

/** Whether the text is too large, in pieces of any length. */
function isTooLarge(text: string, pieceBytes = text.length): boolean {
  const size = new JsonSize();
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += pieceBytes) size.push(bytes.subarray(i, i + pieceBytes));
  return size.isTooLarge;
}
const list = (item: string, count: number) => `[${Array(count).fill(item).join(',')}]`;
const object = (fields: number) =>
  `{${Array.from({ length: fields }, (_, i) => `"k${i}":0`).join(',')}}`;

describe('JSON is too large', () => {
  it.each([
    ['nested too deeply', '['.repeat(17)],
    ['with too many fields in one object', object(201)],
    ['with too many fields in a nested object', `{"a":[${object(201)}]}`],
    ['with too many objects', list('{}', 40_001)],
    ['with too many values', list('0', 60_002)],
    ['with too many spaces around it', ' '.repeat(1_048_577)],
    ['with too long a text outside of lists', `{"a":[[],[{}]],"b":"${'x'.repeat(1_048_577)}"}`],
  ])('when it is %s', (_what, text) => {
    expect(isTooLarge(text)).toBe(true);
    expect(isTooLarge(text, 7)).toBe(true);
  });

  it.each([
    [
      'the largest list of ranges',
      list('{"ip":"10.0.0.1","lower_port_bound":1,"upper_port_bound":2,"profile_id":3}', 10_000),
    ],
    [
      'the largest schedule',
      `{"target_profile_id":1,"periods":${list('{"start":{"day":1,"time":"01:00"},"end":{"day":2,"time":"02:00"}}', 10_000)}}`,
    ],
    ['a list one longer than the longest', `{"domains":${list('"example.com"', 10_001)}}`],
    ['more unknown fields than are reported', object(150)],
    [
      'brackets and commas in strings',
      JSON.stringify({ a: ['[{,"\\'.repeat(500_000)], b: ['\\', '"'] }),
    ],
    ['spaces in a list', `{"a":[[],[{}],${' '.repeat(1_100_000)}0]}`],
    ['many objects one after the other', list('[[[]]]', 10_000)],
  ])('but not %s', (_what, text) => {
    expect(isTooLarge(text)).toBe(false);
    expect(isTooLarge(text, 1_001)).toBe(false);
  });
});
