import { describe, expect, it } from 'vitest';
import { readNameservers } from './resolv-conf.js';

describe('readNameservers', () => {
  it('returns the first three addresses, in order', () => {
    const text = [
      '# nameserver 192.0.2.9',
      'search example.com',
      'nameserver 192.0.2.1',
      '  nameserver\t2001:db8::1 # trailing',
      'nameserver fe80::1%eth0',
      'nameserver resolver.example',
      'nameserver 192.0.2.2;trailing',
      'nameserver 192.0.2.3',
    ].join('\n');
    expect(readNameservers(text)).toEqual([
      { address: '192.0.2.1', port: 53 },
      { address: '2001:db8::1', port: 53 },
      { address: '192.0.2.2', port: 53 },
    ]);
  });

  it('returns nothing for an empty file', () => {
    expect(readNameservers('')).toEqual([]);
  });
});
