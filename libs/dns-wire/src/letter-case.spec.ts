import { randomFillSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hasSameCase, mixCase } from './letter-case.js';
import { decodeMessage, encodeQuery } from './testing/index.js';

const random = { next: () => randomFillSync(new Uint16Array(1))[0] };
const mixed = (name: string, qtype = 1): Uint8Array => {
  const query = encodeQuery(name, qtype);
  mixCase(query, query.length, random);
  return query;
};

describe('mixCase', () => {
  it('gives letters a random case, and changes nothing else', () => {
    const name = 'a-very-long-name-with-many-letters.0123456789._x.example';
    const seen = new Set<string>();
    for (let i = 0; i < 50; i++) {
      const { qname } = decodeMessage(mixed(name)).questions[0];
      expect(qname.toLowerCase()).toBe(name);
      seen.add(qname);
    }
    expect(seen.size).toBe(50);
  });

  it('uses the whole range of the random numbers', () => {
    const name = `${'q'.repeat(60)}.example`;
    const all = (bits: number) => {
      const query = encodeQuery(name, 1);
      mixCase(query, query.length, { next: () => bits });
      return decodeMessage(query).questions[0].qname;
    };
    expect(all(0)).toBe(name.toUpperCase());
    expect(all(0xffff)).toBe(name);
  });

  it('leaves type and class alone, whatever letters their numbers are', () => {
    for (let i = 0; i < 20; i++) {
      expect(decodeMessage(mixed('w', 0x4141)).questions[0]).toMatchObject({
        qtype: 0x4141,
        qclass: 1,
      });
    }
  });

  it('leaves label lengths and bytes outside ASCII alone', () => {
    const bytes = Uint8Array.of(63, ...new Uint8Array(63).fill(0xc1), 4, 0x40, 0x5b, 0x60, 0x7b, 0);
    const query = Uint8Array.of(...new Uint8Array(12), ...bytes, 0, 1, 0, 1);
    const before = query.slice();
    mixCase(query, query.length, random);
    expect(query).toEqual(before);
  });
});

describe('hasSameCase', () => {
  it('tells a changed letter from the same question', () => {
    const query = encodeQuery('www.example.com', 1);
    expect(hasSameCase(query, query.slice(), query.length)).toBe(true);
    expect(hasSameCase(query, encodeQuery('www.exAmple.com', 1), query.length)).toBe(false);
  });
});
