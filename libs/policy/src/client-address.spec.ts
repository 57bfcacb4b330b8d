import fc from 'fast-check';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ClientAddress } from './client-address.js';

const client = new ClientAddress();
const read = (text: string) =>
  client.set(text, 53) ? { family: client.family, words: [...client.words] } : null;

describe('ClientAddress', () => {
  it.each([
    ['192.0.2.255', 4, [0xc000_02ff, 0, 0, 0]],
    ['0.0.0.0', 4, [0, 0, 0, 0]],
    ['255.255.255.255', 4, [0xffff_ffff, 0, 0, 0]],
    ['::', 6, [0, 0, 0, 0]],
    ['::1', 6, [0, 0, 0, 1]],
    ['2001:db8::', 6, [0x2001_0db8, 0, 0, 0]],
    ['2001:db8:1:2:3:4:5:6', 6, [0x2001_0db8, 0x0001_0002, 0x0003_0004, 0x0005_0006]],
    ['2001:DB8::ab:0:9', 6, [0x2001_0db8, 0, 0xab, 9]],
    ['fe80::1%eth0', 6, [0xfe80_0000, 0, 0, 1]],
    ['64:ff9b::192.0.2.1', 6, [0x0064_ff9b, 0, 0, 0xc000_0201]],
  ] as const)('reads %s', (text, family, words) => {
    expect(read(text)).toEqual({ family, words });
    expect(client.port).toBe(53);
  });

  it('treats an IPv4-mapped address as the IPv4 address (decisions §8)', () => {
    expect(read('::ffff:192.0.2.1')).toEqual({ family: 4, words: [0xc000_0201, 0, 0, 0] });
    expect(read('::ffff:c000:201')).toEqual(read('192.0.2.1'));
    expect(read('::fffe:192.0.2.1')?.family).toBe(6);
  });

  it.each([
    '',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.1.1',
    '192.0.2.',
    '192..2.1',
    'example',
    ':',
    ':::',
  ])('refuses "%s"', (text) => {
    expect(read(text)).toBeNull();
  });

  it('copies to another client', () => {
    client.set('2001:db8::7', 4242);
    const copy = new ClientAddress();
    copy.copyFrom(client);
    expect(copy).toEqual(client);
  });

  it('agrees with Node about which texts are addresses and what they mean', () => {
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc
        .array(fc.constantFrom('0', '1', 'ffff', ':', '::', '.', '1.2.3.4', 'g', '12345'), {
          maxLength: 12,
        })
        .map((parts) => parts.join('')),
    );
    let addresses = 0;
    fc.assert(
      fc.property(text, (candidate) => {
        const found = read(candidate);
        expect(found !== null).toBe(isIP(candidate) !== 0);
        if (found === null) return;
        addresses++;
        const list = new BlockList();
        list.addAddress(candidate, isIPv6(candidate) ? 'ipv6' : 'ipv4');
        expect(list.check(render(found), found.family === 6 ? 'ipv6' : 'ipv4')).toBe(true);
      }),
      { numRuns: 20_000 },
    );
    expect(addresses).toBeGreaterThan(5000);
  });
});

function render({ family, words }: { family: number; words: number[] }): string {
  if (family === 4) return [24, 16, 8, 0].map((shift) => (words[0] >>> shift) & 255).join('.');
  return words.flatMap((word) => [word >>> 16, word & 0xffff].map((g) => g.toString(16))).join(':');
}
