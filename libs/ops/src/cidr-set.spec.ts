import { describe, expect, it } from 'vitest';
import { CidrSet, InvalidCidrError } from './cidr-set.js';

describe('CidrSet', () => {
  const set = CidrSet.parse(['192.0.2.0/24', '198.51.100.7', '2001:db8::/32', '10.1.2.3/8']);

  it.each(['192.0.2.255', '198.51.100.7', '2001:db8::53', '10.255.0.1', '::ffff:192.0.2.1'])(
    'has %s',
    (address) => {
      expect(set.has(address)).toBe(true);
    },
  );

  it.each([
    '192.0.3.0',
    '198.51.100.8',
    '2001:db9::',
    'a00::1',
    'not an address',
    '::ffff:203.0.113.1',
  ])('has no %s', (address) => {
    expect(set.has(address)).toBe(false);
  });

  it.each([
    '',
    '192.0.2.0/33',
    '192.0.2.0/08',
    '192.0.2.0/',
    '192.0.2/24',
    '2001:db8::%1/64',
    '2001:db8::/129',
    'x/8',
    '192.0.2.0/24/2',
  ])('refuses "%s"', (cidr) => {
    expect(() => CidrSet.parse([cidr])).toThrow(InvalidCidrError);
  });
});
