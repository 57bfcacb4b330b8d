import { hexOf } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import { BlockPages } from './block-pages.js';

const pages = new BlockPages(
  ['192.0.2.1', '2001:db8::1', '192.0.2.2'],
  new Map([
    [7, ['2001:db8::7']],
    [8, ['192.0.2.8']],
  ]),
);
const rdataOf = (pageId: number) => {
  const { ipv4, ipv6 } = pages.addressesOf(pageId);
  return [hexOf(ipv4), hexOf(ipv6)];
};
const DEFAULT = ['c0000201c0000202', '20010db8000000000000000000000001'];

describe('BlockPages', () => {
  it('returns the default page without a page id, or for a page without addresses of its own', () => {
    expect(rdataOf(-1)).toEqual(DEFAULT);
    expect(rdataOf(9)).toEqual(DEFAULT);
  });

  it('leaves the other family of a page empty (decisions §8)', () => {
    expect(rdataOf(7)).toEqual(['', '20010db8000000000000000000000007']);
    expect(rdataOf(8)).toEqual(['c0000208', '']);
  });
});
