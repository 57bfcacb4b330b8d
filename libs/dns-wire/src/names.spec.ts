import { describe, expect, it } from 'vitest';
import { formatName } from './names.js';
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
