import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIpv4, maskIpv4, parseIpv4 } from './ipv4.js';

const anyAddress = fc.integer({ min: 0, max: 0xffff_ffff });

describe('parseIpv4', () => {
  it('reads four decimal parts as one big-endian integer', () => {
    expect(parseIpv4('192.0.2.1')).toBe(3221225985);
    expect(parseIpv4('0.0.0.0')).toBe(0);
    expect(parseIpv4('255.255.255.255')).toBe(4294967295);
  });

  it('reads what formatIpv4 writes', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(parseIpv4(formatIpv4(address))).toBe(address);
      }),
    );
  });

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4 ',
    '1.2.3.-4',
    '1.2.3.',
  ])('rejects %j', (text) => {
    expect(parseIpv4(text)).toBeNull();
  });
});

describe('maskIpv4', () => {
  it('clears all bits after the prefix', () => {
    fc.assert(
      fc.property(anyAddress, fc.integer({ min: 0, max: 32 }), (address, length) => {
        const bits = address.toString(2).padStart(32, '0');
        const masked = bits.slice(0, length).padEnd(32, '0');
        expect(maskIpv4(address, length)).toBe(Number.parseInt(masked, 2));
      }),
    );
  });
});
