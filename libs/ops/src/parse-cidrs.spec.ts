import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AddressWords } from './cidr-set.js';
import { InvalidCidrError, parseCidrs } from './parse-cidrs.js';

function ipv4(...bytes: number[]): AddressWords {
  return { family: 4, words: Uint32Array.of(Buffer.from(bytes).readUInt32BE(0), 0, 0, 0) };
}

function ipv6(...words: number[]): AddressWords {
  return { family: 6, words: Uint32Array.from(words) };
}

/** A network as it was generated; `bits` is the length of its prefix. */
interface Network {
  readonly address: AddressWords;
  readonly bits: number;
}

function cidrOf({ address: { family, words }, bits }: Network): string {
  const groups = Array.from(words, (word) => [word >>> 16, word & 0xffff]).flat();
  const text =
    family === 4
      ? [24, 16, 8, 0].map((shift) => (words[0] >>> shift) & 255).join('.')
      : groups.map((group) => group.toString(16)).join(':');
  return `${text}/${bits}`;
}

function bitsOf({ family, words }: AddressWords): string {
  const all = Array.from(words, (word) => word.toString(2).padStart(32, '0')).join('');
  return all.slice(0, family === 4 ? 32 : 128);
}

/** The oracle: compares the bits of the address with those of each network. */
function isInSome(networks: readonly Network[], asked: AddressWords): boolean {
  return networks.some(
    ({ address, bits }) =>
      address.family === asked.family &&
      bitsOf(address).slice(0, bits) === bitsOf(asked).slice(0, bits),
  );
}

/** Few different words, so that networks overlap and addresses are often near their bounds. */
const word = fc.oneof(
  fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff),
  fc.integer({ min: 0x2001_0db8, max: 0x2001_0dbb }),
  fc.integer({ min: 0, max: 0xffff_ffff }),
);
const anyAddress = fc.oneof(
  word.map((only): AddressWords => ({ family: 4, words: Uint32Array.of(only, 0, 0, 0) })),
  fc
    .tuple(word, word, word, word)
    // A mapped address is one of family 4.
    .filter(([first, second, third]) => first + second !== 0 || third !== 0xffff)
    .map((words) => ipv6(...words)),
);
const anyNetwork = fc
  .tuple(anyAddress, fc.nat(128))
  .map(([address, bits]): Network => ({ address, bits: address.family === 4 ? bits % 33 : bits }));

describe('CidrSet', () => {
  const set = parseCidrs(['192.0.2.0/24', '198.51.100.7', '2001:db8::/32', '10.1.2.3/8']);

  it.each([
    ['the last address of a network', ipv4(192, 0, 2, 255)],
    ['a bare address', ipv4(198, 51, 100, 7)],
    ['an IPv6 address', ipv6(0x2001_0db8, 0, 0, 0x53)],
    ['an address in a network that was written with host bits', ipv4(10, 255, 0, 1)],
  ])('has %s', (_what, address) => {
    expect(set.has(address)).toBe(true);
  });

  it.each([
    ['the address after a network', ipv4(192, 0, 3, 0)],
    ['the address after a bare address', ipv4(198, 51, 100, 8)],
    ['the address after an IPv6 network', ipv6(0x2001_0db9, 0, 0, 0)],
    ['an IPv6 address that begins with the bits of an IPv4 network', ipv6(0x0a00_0000, 0, 0, 1)],
  ])('does not have %s', (_what, address) => {
    expect(set.has(address)).toBe(false);
  });

  it('has all addresses of the one family for /0', () => {
    expect(parseCidrs(['0.0.0.0/0']).has(ipv4(255, 0, 0, 1))).toBe(true);
    expect(parseCidrs(['0.0.0.0/0']).has(ipv6(0, 0, 0, 1))).toBe(false);
    expect(parseCidrs(['::/0']).has(ipv6(0, 0, 0, 1))).toBe(true);
    expect(parseCidrs(['::/0']).has(ipv4(192, 0, 2, 1))).toBe(false);
  });

  it('has no address when it has no networks', () => {
    expect(parseCidrs([]).has(ipv4(192, 0, 2, 1))).toBe(false);
    expect(parseCidrs([]).has(ipv6(0, 0, 0, 1))).toBe(false);
  });

  it.each(['::ffff:192.0.2.0/120', '::ffff:c000:200/120', '0:0:0:0:0:FFFF:192.0.2.9/120'])(
    'takes %s for the IPv4 network that it maps',
    (cidr) => {
      const mapped = parseCidrs([cidr]);
      expect(mapped.has(ipv4(192, 0, 2, 0))).toBe(true);
      expect(mapped.has(ipv4(192, 0, 2, 255))).toBe(true);
      expect(mapped.has(ipv4(192, 0, 3, 0))).toBe(false);
      expect(parseCidrs(['::ffff:0:0/96']).has(ipv4(192, 0, 2, 1))).toBe(true);
    },
  );

  it('takes an IPv6 address that ends in an IPv4 address for an IPv6 address', () => {
    const set = parseCidrs(['2001:db8::192.0.2.1']);
    expect(set.has(ipv6(0x2001_0db8, 0, 0, 0xc000_0201))).toBe(true);
    expect(set.has(ipv4(192, 0, 2, 1))).toBe(false);
  });

  it('answers as a comparison with each network does', () => {
    fc.assert(
      fc.property(
        fc.array(anyNetwork, { maxLength: 40 }),
        fc.array(anyAddress, { maxLength: 40 }),
        (networks, addresses) => {
          const parsed = parseCidrs(networks.map(cidrOf));
          for (const asked of [...addresses, ...networks.map(({ address }) => address)]) {
            expect(parsed.has(asked)).toBe(isInSome(networks, asked));
          }
        },
      ),
      { numRuns: 500 },
    );
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
    expect(() => parseCidrs([cidr])).toThrow(InvalidCidrError);
    expect(() => parseCidrs([cidr])).toThrow(`"${cidr}" is not a network`);
  });
});
