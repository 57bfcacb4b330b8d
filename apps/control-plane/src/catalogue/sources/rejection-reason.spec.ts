import { describe, expect, it } from 'vitest';
import { rejectionReason } from './rejection-reason.js';

describe('rejectionReason', () => {
  it('rejects a list without a domain, whatever the last list was', () => {
    for (const before of [null, 0, 10]) expect(rejectionReason(0, before)).toBe('lists no domain');
  });

  it('rejects a list with less than half of the domains of the last one', () => {
    expect(rejectionReason(49, 100)).toMatch(/^lists 49 domains, less than half of the 100 before/);
    expect(rejectionReason(50, 100)).toBeNull();
  });

  it('rejects a list with more than four times the domains of the last one', () => {
    expect(rejectionReason(401, 100)).toMatch(
      /^lists 401 domains, more than four times the 100 before/,
    );
    expect(rejectionReason(400, 100)).toBeNull();
  });

  it('accepts any list when there was none before', () => {
    expect(rejectionReason(1, null)).toBeNull();
  });
});
