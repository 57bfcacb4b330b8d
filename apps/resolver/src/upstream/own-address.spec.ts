import { describe, expect, it } from 'vitest';
import { findOwnAddress, machineInterfaces } from './own-address.js';

const MACHINE = ['127.0.0.1', '192.0.2.7', '::1', '2001:db8::7'];
const upstream = (address: string, port = 53) => ({ address, port });
const find = (host: string, ...addresses: string[]) =>
  findOwnAddress(
    addresses.map((address) => upstream(address)),
    { address: host, port: 53 },
    MACHINE,
  )?.address;

describe('findOwnAddress', () => {
  it('compares an upstream over TLS with the port for DNS over TLS', () => {
    const tls = { name: 'dns.example' };
    const own = { address: '127.0.0.1', port: 853, tls };
    const find = (port: number, tlsPort?: number) =>
      findOwnAddress([own], { address: '127.0.0.1', port, tlsPort }, MACHINE);
    expect(find(53, 853)).toBe(own);
    expect(find(853, 8853)).toBeUndefined();
    expect(find(853)).toBeUndefined();
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['192.0.2.7', '::ffff:192.0.2.7'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['2001:db8::7', '2001:DB8:0::7'],
    ['127.0.0.1', '0.0.0.0'],
    ['0.0.0.0', '192.0.2.7'],
    ['0.0.0.0', '127.0.0.53'],
    ['::', '2001:db8::7'],
    ['::', '::1'],
  ])('finds that a resolver at %s has itself as upstream %s', (host, address) => {
    expect(find(host, '192.0.2.53', address)).toBe(address);
  });

  it.each([
    ['127.0.0.1', '127.0.0.53'],
    ['127.0.0.1', '192.0.2.7'],
    ['0.0.0.0', '192.0.2.8'],
    ['::', '2001:db8::8'],
  ])('accepts that a resolver at %s asks %s', (host, address) => {
    expect(find(host, address)).toBeUndefined();
  });

  it('compares the port', () => {
    const listening = { address: '127.0.0.1', port: 5300 };
    expect(findOwnAddress([upstream('127.0.0.1', 53)], listening, MACHINE)).toBeUndefined();
  });
});

describe('machineInterfaces', () => {
  it('are none where a sandbox does not tell them', () => {
    const refusal = () => {
      throw new Error('uv_interface_addresses returned an error');
    };
    expect(machineInterfaces(refusal)).toEqual({});
  });
});
