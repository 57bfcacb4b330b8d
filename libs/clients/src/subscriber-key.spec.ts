import { Policy, ClientAddress } from '@weir/policy';
import { describe, expect, it } from 'vitest';
import { RateTable } from './rate-table.js';
import { SubscriberKey } from './subscriber-key.js';

type Operation = Parameters<Policy['put']>[0];

const profileId = 1;
const profile: Operation = {
  type: 'put',
  kind: 'profile',
  entity: {
    id: profileId,
    pageId: null,
    whiteListOnly: false,
    emptyDnsAnswer: false,
    appawarePriorityOverBwlists: false,
    categoryIds: [],
    applicationRules: [],
  },
};
const range = (address: number, lowerPort: number, upperPort: number): Operation => ({
  type: 'put',
  kind: 'naptAssignment',
  entity: { address, lowerPort, upperPort, profileId },
});
const ipv4Network = (address: number, prefixLength: number): Operation => ({
  type: 'put',
  kind: 'ipv4Network',
  entity: { address, prefixLength, profileId },
});
const ipv6Network = (text: string, prefixLength: number): Operation => {
  const client = new ClientAddress();
  client.set(text, 0);
  const [first, second, third, fourth] = client.words;
  const address = [first, second, third, fourth] as const;
  return { type: 'put', kind: 'ipv6Network', entity: { address, prefixLength, profileId } };
};

const policy = new Policy({ timeZone: 'UTC' });
for (const operation of [
  profile,
  ipv4Network(0xc000_0200, 24),
  ipv4Network(0xcb00_0000, 16),
  ipv4Network(0xcb00_7180, 28),
  range(0xc000_0201, 1024, 2047),
  range(0xc000_0201, 2048, 4095),
  range(0xc000_0202, 1024, 2047),
  ipv6Network('2001:db8::', 32),
  ipv6Network('2001:db8:1::', 48),
  ipv6Network('2001:db8:2:0:1::', 80),
]) {
  policy.put(operation);
}
policy.setRevision(1);

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
  it('distinguishes neighbours behind NAPT, and treats a port range as one subscriber', () => {
    expect(keyOf('192.0.2.1', 1024)).toBe(keyOf('192.0.2.1', 2047));
    expect(keyOf('192.0.2.1', 2048)).not.toBe(keyOf('192.0.2.1', 2047));
    expect(keyOf('192.0.2.1', 5000)).not.toBe(keyOf('192.0.2.1', 2047));
    expect(keyOf('192.0.2.2', 1024)).not.toBe(keyOf('192.0.2.1', 1024));
  });

  it('treats an IPv4 network of /24 or longer as one subscriber, whatever the port', () => {
    expect(keyOf('192.0.2.9', 1)).toBe(keyOf('192.0.2.9', 2));
    expect(keyOf('192.0.2.9')).toBe(keyOf('192.0.2.10'));
    expect(keyOf('203.0.113.129')).toBe(keyOf('203.0.113.142'));
    expect(keyOf('203.0.113.129')).not.toBe(keyOf('203.0.113.144'));
  });

  it('treats each IPv4 address of a wider network, and of none, as one subscriber', () => {
    expect(keyOf('203.0.1.1')).not.toBe(keyOf('203.0.1.2'));
    expect(keyOf('198.51.100.1')).not.toBe(keyOf('198.51.100.2'));
  });

  it('distinguishes a network from a network and an address with the same bits', () => {
    const keys = ['203.0.113.128', '192.0.2.0', '203.0.0.0'].map((address) => keyOf(address));
    expect(new Set(keys).size).toBe(3);
    expect(keyOf('192.0.2.0')).not.toBe(keyOf('192.0.2.0', 5000, { policy: null }));
  });

  it('treats the IPv6 network of a subscriber as one, and each /56 of a pool and of none', () => {
    expect(keyOf('2001:db8:1:1::1')).toBe(keyOf('2001:db8:1:2::1'));
    expect(keyOf('2001:db8:2:0:1::1')).toBe(keyOf('2001:db8:2:0:1:9::'));
    expect(keyOf('2001:db8:2:0:1::1')).not.toBe(keyOf('2001:db8:2:0:2::1'));
    expect(keyOf('2001:db8:3:1::1')).toBe(keyOf('2001:db8:3:1:ffff::1'));
    expect(keyOf('2001:db8:3:1::1')).toBe(keyOf('2001:db8:3:ff::1'));
    expect(keyOf('2001:db8:3:1::1')).not.toBe(keyOf('2001:db8:3:100::1'));
    expect(keyOf('2001:db9::1')).toBe(keyOf('2001:db9:0:ff:1::'));
    expect(keyOf('2001:db9::1')).not.toBe(keyOf('2001:db9:0:100::1'));
  });

  it('uses the address before there is a policy', () => {
    expect(keyOf('192.0.2.1', 1024, { policy: null })).toBe(
      keyOf('192.0.2.1', 9, { policy: null }),
    );
  });

  it('distributes consecutive addresses over a table', () => {
    const table = new RateTable(4096);
    const key = new SubscriberKey({ policy: null }, 12_345);
    const client = new ClientAddress();
    const allows = (i: number) => {
      client.setIpv4(0x0a00_0000 + i, 1);
      key.identify(client);
      return table.allows(key.first, key.second, 1, 1);
    };
    for (let i = 0; i < 1000; i++) allows(i);
    const known = Array.from({ length: 1000 }, (_, i) => allows(i));
    expect(known.filter((admitted) => admitted).length).toBeLessThan(20);
  });
});
