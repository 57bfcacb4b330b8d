import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DomainError, normaliseDomain, toWireName } from './domain.js';

const LONGEST = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;

/** Null when the name is refused. */
function formOf(name: string): string | null {
  try {
    return normaliseDomain(name);
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    return null;
  }
}

describe('normaliseDomain', () => {
  it.each([
    ['example.com', 'example.com'],
    ['WWW.Example.COM.', 'www.example.com'],
    ['com', 'com'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['r3---sn-4g5e.example.com', 'r3---sn-4g5e.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['bu\u0308cher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['faß.example', 'xn--fa-hia.example'],
    ['例え。テスト。', 'xn--r8jz45g.xn--zckzah'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['4.3.2.1.in-addr.arpa', '4.3.2.1.in-addr.arpa'],
    ['bücher.123', 'xn--bcher-kva.123'],
    ['1.2.3', '1.2.3'],
    [LONGEST, LONGEST],
    [`${LONGEST}.`, LONGEST],
  ])('gives for %j the normal form %j', (text, normal) => {
    expect(normaliseDomain(text)).toBe(normal);
  });

  it.each([
    ['', 'is empty'],
    ['.', 'is empty'],
    ['example.com..', 'has an empty label'],
    ['.example.com', 'has an empty label'],
    ['a..example.com', 'has an empty label'],
    ['bücher..example', 'has an empty label'],
    ['*.example.com', 'letters, digits'],
    ['https://example.com/', 'letters, digits'],
    ['example.com:443', 'letters, digits'],
    ['user@bücher.example', 'letters, digits'],
    ['bücher.example/path', 'letters, digits'],
    ['ex%61mple.com', 'letters, digits'],
    ['exa mple.com', 'letters, digits'],
    [' example.com', 'letters, digits'],
    ['example.com\n', 'letters, digits'],
    ['2001:db8::1', 'letters, digits'],
    ['[2001:db8::1]', 'letters, digits'],
    ['192.0.2.1', 'is an IP address'],
    ['192.0.2.1.', 'is an IP address'],
    ['１９２.0.2.1', 'is an IP address'],
    ['-a.example', 'begins or ends with a hyphen'],
    ['a-.example', 'begins or ends with a hyphen'],
    ['-ü.example', 'invalid A-label'],
    ['xn--a.example', 'invalid A-label'],
    ['xn--.example', 'begins or ends with a hyphen'],
    ['xn--ss-.example', 'begins or ends with a hyphen'],
    ['xn--0.bücher.example', 'internationalised'],
    ['\u200d.example', 'internationalised'],
    ['a\u2100b.example', 'internationalised'],
    [`${'a'.repeat(64)}.example`, 'longer than 63'],
    [`a.${LONGEST}`, 'longer than 253'],
    [`${LONGEST}..`, 'longer than 253'],
    ['ü'.repeat(2000), 'too long'],
  ])('refuses %j', (text, why) => {
    expect(() => normaliseDomain(text)).toThrow(DomainError);
    expect(() => normaliseDomain(text)).toThrow(why);
  });

  it('gives the same form for a normal form, or refuses, for any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(...Array.from('aZ0-_.xnüßא例。１')), maxLength: 30 }),
      fc.domain(),
    );
    fc.assert(
      fc.property(text, (input) => {
        let normal: string;
        try {
          normal = normaliseDomain(input);
        } catch (error) {
          expect(error).toBeInstanceOf(DomainError);
          return;
        }
        expect(normaliseDomain(normal)).toBe(normal);
        expect(normaliseDomain(`${normal.toUpperCase()}.`)).toBe(normal);
        expect(normal).toMatch(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/);
      }),
      { numRuns: 3000 },
    );
  });

  it('gives a name and the same name with a trailing dot the same form', () => {
    const label = fc.oneof(
      fc.string({ unit: fc.constantFrom(...Array.from('a0-_')), minLength: 1, maxLength: 4 }),
      fc.constantFrom('', 'xn--', 'xn--a', 'xn--mnchen-3ya', 'axn--b', '1', '255', 'a'.repeat(63)),
      fc.constantFrom('a'.repeat(64), `-${'a'.repeat(62)}`, `${'a'.repeat(62)}-`, 'A', 'ü', 'a--b'),
    );
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 6 }), (labels) => {
        const name = labels.join('.');
        fc.pre(!name.endsWith('.') && name !== '');
        expect(formOf(name)).toBe(formOf(`${name}.`));
      }),
      { numRuns: 3_000 },
    );
  });

  it('does not repeat the domain in an error', () => {
    expect(() => normaliseDomain('*.secret.example')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
  });
});

describe('toWireName', () => {
  it('writes length-prefixed labels and the root (RFC 1035 §3.1)', () => {
    const expected = Buffer.from('\x03www\x07example\x03com\0', 'latin1');
    expect(Buffer.from(toWireName('www.example.com'))).toEqual(expected);
  });

  it('writes a name of one label', () => {
    expect(Array.from(toWireName('a'))).toEqual([1, 0x61, 0]);
  });
});
