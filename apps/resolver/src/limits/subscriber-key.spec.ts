import type { Ipv6Words } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { ClientAddress } from '../listeners/client-address.js';
import { policyOf, profile, put } from '../testing/policies.js';
import { RateTable } from './rate-table.js';
import { SubscriberKey } from './subscriber-key.js';

const ipv6 = (text: string) => {
  const client = new ClientAddress();
  client.set(text, 0);
  return [...client.words] as unknown as Ipv6Words;
};
const network = (address: string, prefixLength: number) =>
  put('ipv6Network', { address: ipv6(address), prefixLength, profileId: 1 });

const policy = policyOf(
  profile(1),
  put('ipv4Network', { address: 0xc000_0200, prefixLength: 24, profileId: 1 }),
  put('naptAssignment', { address: 0xc000_0201, lowerPort: 1024, upperPort: 2047, profileId: 1 }),
  put('naptAssignment', { address: 0xc000_0201, lowerPort: 2048, upperPort: 4095, profileId: 1 }),
  put('naptAssignment', { address: 0xc000_0202, lowerPort: 1024, upperPort: 2047, profileId: 1 }),
  network('2001:db8::', 32),
  network('2001:db8:1::', 48),
  network('2001:db8:2:0:1::', 80),
);

function keyOf(
  address: string,
  port = 5000,
  source: { policy: typeof policy | null } = { policy },
) {
  const client = new ClientAddress();
  expect(client.set(address, port)).toBe(true);
  const key = new SubscriberKey(source, 77);
  key.identify(client);
  return `${key.first} ${key.second}`;
}

describe('SubscriberKey', () => {
  it('tells neighbours behind NAPT apart, and takes a range for one', () => {
    expect(keyOf('192.0.2.1', 1024)).toBe(keyOf('192.0.2.1', 2047));
    expect(keyOf('192.0.2.1', 2048)).not.toBe(keyOf('192.0.2.1', 2047));
    expect(keyOf('192.0.2.1', 5000)).not.toBe(keyOf('192.0.2.1', 2047));
    expect(keyOf('192.0.2.2', 1024)).not.toBe(keyOf('192.0.2.1', 1024));
  });

  it('takes each IPv4 address of a network for one, whatever its port', () => {
    expect(keyOf('192.0.2.9', 1)).toBe(keyOf('192.0.2.9', 2));
    expect(keyOf('192.0.2.9')).not.toBe(keyOf('192.0.2.10'));
    expect(keyOf('198.51.100.1')).not.toBe(keyOf('198.51.100.2'));
  });

  it('takes the IPv6 network of a subscriber for one, and a /64 of a pool', () => {
    expect(keyOf('2001:db8:1:1::1')).toBe(keyOf('2001:db8:1:2::1'));
    expect(keyOf('2001:db8:2:0:1::1')).toBe(keyOf('2001:db8:2:0:1:9::'));
    expect(keyOf('2001:db8:2:0:1::1')).not.toBe(keyOf('2001:db8:2:0:2::1'));
    expect(keyOf('2001:db8:3:1::1')).toBe(keyOf('2001:db8:3:1:ffff::1'));
    expect(keyOf('2001:db8:3:1::1')).not.toBe(keyOf('2001:db8:3:2::1'));
    expect(keyOf('2001:db9::1')).toBe(keyOf('2001:db9:0:0:1::'));
  });

  it('goes by the address before there is a policy', () => {
    expect(keyOf('192.0.2.1', 1024, { policy: null })).toBe(
      keyOf('192.0.2.1', 9, { policy: null }),
    );
  });

  it('spreads addresses that follow each other over a table', () => {
    const table = new RateTable(4096);
    const key = new SubscriberKey({ policy: null }, 12_345);
    const client = new ClientAddress();
    const admits = (i: number) => {
      client.setIpv4(0x0a00_0000 + i, 1);
      key.identify(client);
      return table.admits(key.first, key.second, 1, 1);
    };
    for (let i = 0; i < 1000; i++) admits(i);
    const known = Array.from({ length: 1000 }, (_, i) => admits(i));
    expect(known.filter((admitted) => admitted).length).toBeLessThan(20);
  });
});
