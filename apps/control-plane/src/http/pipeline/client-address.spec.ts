import type { RequestSource } from '../routing/http.js';
import { ClientAddress } from '@weir/clients';
import { parseCidrs } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { clientAddress } from './begin-request.js';

const PROXIES = parseCidrs(['127.0.0.0/8', '2001:db8::/64']);

function addressOf(text: string | null): RequestSource | null {
  if (text === null) return null;
  const client = new ClientAddress();
  expect(client.set(text, 0)).toBe(true);
  return { address: client, text };
}

describe('clientAddress', () => {
  it.each([
    ['the peer, when it is no proxy', '203.0.113.1', '192.0.2.1', '203.0.113.1'],
    ['the peer, when the proxy says nothing', '127.0.0.1', undefined, '127.0.0.1'],
    ['the rightmost entry', '127.0.0.1', '192.0.2.1, 192.0.2.2', '192.0.2.2'],
    ['the rightmost that is no proxy', '127.0.0.1', '192.0.2.1,192.0.2.2,127.0.0.9', '192.0.2.2'],
    ['the leftmost, when all are proxies', '127.0.0.1', '127.0.0.3,127.0.0.2', '127.0.0.3'],
    ['an IPv6 address behind an IPv6 proxy', '2001:db8::5', '2001:db8:1::1', '2001:db8:1::1'],
    ['a peer that is an IPv4-mapped proxy', '::ffff:127.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['in its shortest form', '127.0.0.1', '2001:DB8:1:0::1', '2001:db8:1::1'],
    ['null, when the entry that counts is not an address', '127.0.0.1', '192.0.2.1, x', null],
    ['null, when the entry that counts is empty', '127.0.0.1', '192.0.2.1,', null],
  ])('is %s', (_what, peer, forwarded, expected) => {
    expect(clientAddress(peer, forwarded, PROXIES)).toEqual(addressOf(expected));
  });

  it('is the peer when no proxy is trusted, whatever X-Forwarded-For says', () => {
    expect(clientAddress('192.0.2.9', '192.0.2.1', undefined)).toEqual(addressOf('192.0.2.9'));
  });

  it('is null when the connection is closed', () => {
    expect(clientAddress(undefined, '192.0.2.1', PROXIES)).toBeNull();
  });
});
