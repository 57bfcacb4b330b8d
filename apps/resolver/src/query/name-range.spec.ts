import { concat, wireName } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import { NameRange } from './name-range.js';

const range = (name: string, isBelowIncluded: boolean, hasNxDomainCut = false) =>
  new NameRange({ name: wireName(name), isBelowIncluded, hasNxDomainCut });
const at2 = (name: string) => [concat([9, 9], wireName(name)), 2] as const;

describe('NameRange', () => {
  it.each([
    ['example.com', true, true],
    ['EXAMPLE.com', true, true],
    ['www.example.com', false, true],
    ['a.b.example.com', false, true],
    ['com', false, false],
    ['.', false, false],
    ['badexample.com', false, false],
    ['example.org', false, false],
    ['example.com.org', false, false],
  ])('of example.com: %s, alone %j, with the names below %j', (name, alone, below) => {
    expect(range('example.com', false).has(...at2(name))).toBe(alone);
    expect(range('example.com', true).has(...at2(name))).toBe(below);
  });

  it('of the root with the names below has every name', () => {
    expect(range('.', true).has(...at2('www.example.com'))).toBe(true);
    expect(range('.', true).has(...at2('.'))).toBe(true);
    expect(range('.', false).has(...at2('com'))).toBe(false);
  });

  it('has the NXDOMAIN of the names above where that holds for the names below (RFC 8020)', () => {
    for (const name of ['example.com', 'com', 'COM', '.']) {
      const isName = name === 'example.com';
      expect(range('example.com', false, true).hasNxDomain(...at2(name))).toBe(true);
      expect(range('example.com', false, false).hasNxDomain(...at2(name))).toBe(isName);
    }
    expect(range('example.com', false, true).hasNxDomain(...at2('www.example.com'))).toBe(false);
    expect(range('example.com', true, true).hasNxDomain(...at2('www.example.com'))).toBe(true);
  });
});
