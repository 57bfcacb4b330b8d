import { describe, expect, it } from 'vitest';
import { refusalOf } from './source-guard.js';

describe('refusalOf', () => {
  it('refuses a list without a domain, whatever was before', () => {
    for (const before of [null, 0, 10]) expect(refusalOf(0, before)).toBe('lists no domain');
  });

  it('refuses less than half of what was listed before', () => {
    expect(refusalOf(49, 100)).toMatch(/^lists 49 domains, less than half of the 100 before/);
    expect([refusalOf(50, 100), refusalOf(500, 100)]).toEqual([null, null]);
  });

  it('takes any first list', () => {
    expect(refusalOf(1, null)).toBeNull();
  });
});
