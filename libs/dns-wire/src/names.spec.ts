import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatName, parseName, wireNameBytes } from './names.js';
import { concat, wireName } from './testing/message.js';

describe('formatName', () => {
  it.each([
    [[0], '.'],
    [wireName('www.Example-1.com'), 'www.Example-1.com'],
    [wireName('_dns.resolver.arpa'), '_dns.resolver.arpa'],
    [concat([3, 0x61, 0x2e, 0x62], [0]), String.raw`a\046b`],
    [concat([4, 0x22, 0x0a, 0x5c, 0xff], [1, 0x20], [0]), String.raw`\034\010\092\255.\032`],
  ])('writes %j as %s', (wire, text) => {
    expect(formatName(concat([0xee, 0xee], wire), 2)).toBe(text);
  });
});

describe('parseName', () => {
  it.each([
    ['.', [0]],
    ['www.Example-1.com', wireName('www.Example-1.com')],
    ['example.com.', wireName('example.com')],
    ['*._tcp', wireName('*._tcp')],
    [String.raw`a\046b\.c\\`, [6, 0x61, 0x2e, 0x62, 0x2e, 0x63, 0x5c, 0]],
  ])('reads %s', (text, wire) => {
    expect(parseName(text)).toEqual(Uint8Array.from(wire));
  });

  it.each([
    '',
    '..',
    '.com',
    'a..b',
    'a b',
    'bücher.example',
    'a\n',
    String.raw`a\256`,
    'a\\',
    'a\\1',
  ])('refuses %j', (text) => {
    expect(parseName(text)).toBeNull();
  });

  it('refuses labels of more than 63 bytes and names of more than 255', () => {
    const label = 'a'.repeat(63);
    expect(parseName(`${label}a`)).toBeNull();
    expect(parseName([label, label, label, 'a'.repeat(61)].join('.'))).toHaveLength(255);
    expect(parseName([label, label, label, 'a'.repeat(62)].join('.'))).toBeNull();
  });

  it('reads what formatName writes', () => {
    const label = fc.uint8Array({ minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(label, { maxLength: 10 }), (labels) => {
        const wire = concat(...labels.map((bytes) => [bytes.length, ...bytes]), [0]);
        expect(parseName(formatName(wire, 0))).toEqual(wire);
        expect(wireNameBytes(concat([1, 2], wire), 2)).toBe(wire.length);
      }),
    );
  });
});
