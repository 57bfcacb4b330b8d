import { describe, expect, it } from 'vitest';
import { addressOfRoute, portOfRoute, ROUTE_WORDS, writeRoute } from './route.js';

const route = new Int32Array(ROUTE_WORDS);

describe('writeRoute', () => {
  it.each([
    ['an IPv4 address', 4, [0xc000_0201], false, '192.0.2.1'],
    ['an IPv4 address on a socket of IPv6', 4, [0xc000_0201], true, '0:0:0:0:0:ffff:c000:201'],
    [
      'an IPv6 address',
      6,
      [0x2001_0db8, 0, 0x8000_0000, 0xff00_0001],
      true,
      '2001:db8:0:0:8000:0:ff00:1',
    ],
  ] as const)('leads to %s', (_, family, words, isIpv6Socket, text) => {
    route.fill(-1);
    writeRoute(route, family, Uint32Array.from(words), 53_053, isIpv6Socket);
    expect(addressOfRoute(route, isIpv6Socket)).toBe(text);
    expect(portOfRoute(route)).toBe(53_053);
  });
});
