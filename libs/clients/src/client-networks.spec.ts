import fc from 'fast-check';
import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ClientAddress } from './client-address.js';
import { ClientNetworks } from './client-networks.js';

const client = new ClientAddress();
const has = (networks: ClientNetworks, address: string) => {
  expect(client.set(address, 53)).toBe(true);
  return networks.has(client);
};

describe('ClientNetworks', () => {
  it('contains the addresses of its networks and no others', () => {
    const networks = new ClientNetworks(['192.0.2.7/24', '198.51.100.1', '2001:db8::/33']);
    const asked = ['192.0.2.255', '198.51.100.1', '2001:db8:7fff::1', '::ffff:192.0.2.1'];
    expect(asked.map((one) => has(networks, one))).toEqual([true, true, true, true]);
    const others = ['192.0.3.0', '198.51.100.0', '2001:db8:8000::', '::192.0.2.1'];
    expect(others.map((one) => has(networks, one))).toEqual([false, false, false, false]);
  });

  it('contains a whole family for /0 and for the mapped IPv4 network, and nothing without networks', () => {
    expect(has(new ClientNetworks(['0.0.0.0/0']), '255.0.0.1')).toBe(true);
    expect(has(new ClientNetworks(['0.0.0.0/0']), '::1')).toBe(false);
    expect(has(new ClientNetworks(['::/0']), '::1')).toBe(true);
    expect(has(new ClientNetworks(['::ffff:0:0/96']), '192.0.2.1')).toBe(true);
    expect(has(new ClientNetworks([]), '192.0.2.1')).toBe(false);
  });

  it('throws for a text without an address', () => {
    expect(() => new ClientNetworks(['example/8'])).toThrow('"example/8" is not a network');
  });

  it('answers as net.BlockList does', () => {
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV6().filter((text) => !/^::ffff:/i.test(text)),
    );
    const network = fc
      .tuple(address, fc.nat(128))
      .map(([text, bits]) => ({ text, bits: isIPv6(text) ? bits : bits % 33 }));
    fc.assert(
      fc.property(fc.array(network, { maxLength: 5 }), fc.array(address), (list, asked) => {
        // One list per family: for BlockList IPv4 lies within ::/0.
        const oracles = { ipv4: new BlockList(), ipv6: new BlockList() };
        const familyOf = (text: string) => (isIPv6(text) ? 'ipv6' : 'ipv4');
        for (const { text, bits } of list)
          oracles[familyOf(text)].addSubnet(text, bits, familyOf(text));
        const networks = new ClientNetworks(list.map(({ text, bits }) => `${text}/${bits}`));
        for (const text of [...asked, ...list.map((one) => one.text)]) {
          client.set(text, 1);
          if (client.family === 6 || !isIPv6(text)) {
            expect(networks.has(client)).toBe(oracles[familyOf(text)].check(text, familyOf(text)));
          }
        }
      }),
    );
  });
});
