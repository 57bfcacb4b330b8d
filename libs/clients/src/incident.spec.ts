import { ClientAddress } from '@weir/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IncidentSeal } from './incident.js';
import { UNKNOWN_PORT } from './index.js';

const KEY = '000102030405060708090a0b0c0d0e0f';
const OTHER = '101112131415161718191a1b1c1d1e1f';
const AT = Date.UTC(2026, 10, 24, 12);

function clientOf(address: string, port: number): ClientAddress {
  const client = new ClientAddress();
  expect(client.set(address, port)).toBe(true);
  return client;
}
const incidentOf = (address: string, port: number, domain: string) => ({
  client: clientOf(address, port),
  domain,
  atMs: AT,
});

describe('an incident number', () => {
  const seal = new IncidentSeal([KEY]);

  it('holds the address, the port, the name and the second', () => {
    const property = fc.property(
      fc.oneof(fc.ipV4(), fc.ipV6()),
      fc.integer({ min: UNKNOWN_PORT, max: 65_535 }),
      fc.constantFrom('localhost', 'www.example.com', `${'a'.repeat(63)}.`.repeat(3) + 'example'),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (address, port, domain, seconds) => {
        const client = clientOf(address, port);
        const text = seal.seal({ client, domain, atMs: seconds * 1000 + 999 });
        expect(seal.open(text)).toEqual({ client, domain, atMs: seconds * 1000 });
      },
    );
    fc.assert(property);
  });

  it('holds the target that is blocked in place of the name', () => {
    const incident = { ...incidentOf('2001:db8::7', 53, 'shop.example'), target: 'ads.example' };
    expect(seal.open(seal.seal(incident))).toEqual(incident);
  });

  it('is another text each time, and has nothing in plain', () => {
    const incident = incidentOf('192.0.2.7', 4000, 'www.example.com');
    const address = Uint8Array.of(192, 0, 2, 7);
    const texts = Array.from({ length: 100 }, () => seal.seal(incident));
    expect(new Set(texts).size).toBe(100);
    for (const text of texts) {
      expect(text).toMatch(/^[\w-]{74}$/);
      const bytes = Buffer.from(text, 'base64url');
      expect([bytes.includes('example'), bytes.includes(address)]).toEqual([false, false]);
    }
  });

  it('is opened by every key, and made with the first one', () => {
    const incident = incidentOf('2001:db8::7', 4000, 'www.example.com');
    const text = seal.seal(incident);
    expect(text).toHaveLength(90);
    expect(new IncidentSeal([OTHER, KEY]).open(text)).toEqual(incident);
    expect(new IncidentSeal([OTHER]).open(text)).toBeNull();
    expect(seal.open(new IncidentSeal([OTHER, KEY]).seal(incident))).toBeNull();
  });

  it('is not opened when any bit of it is another one, nor when it is shorter', () => {
    const sealed = Buffer.from(seal.seal(incidentOf('192.0.2.7', 4000, 'a.example')), 'base64url');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] ^= 1 << (bit & 7);
      expect(seal.open(changed.toString('base64url'))).toBeNull();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(seal.open(sealed.subarray(0, length).toString('base64url'))).toBeNull();
    }
    expect(seal.open('what is this?')).toBeNull();
  });

  it('may have spaces and line breaks that a mail has put in', () => {
    const incident = incidentOf('192.0.2.7', 4000, 'www.example.com');
    const text = seal.seal(incident);
    expect(seal.open(` ${text.slice(0, 40)}\r\n${text.slice(40)}\n`)).toEqual(incident);
  });
});
