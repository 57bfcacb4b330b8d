import { describe, expect, it } from 'vitest';
import { rejectionOf } from './source-refresh.js';

describe('rejectionOf', () => {
  it('rejects a list without a domain, whatever the last list was, and nobody may accept it', () => {
    for (const before of [null, 0, 10]) {
      expect(rejectionOf(0, before, null)).toEqual({ problem: 'lists no domain', isHeld: false });
    }
  });

  it('holds a list with less than half of the domains of the last one', () => {
    expect(rejectionOf(49, 100, null)).toEqual({
      problem: 'lists 49 domains, less than half of the 100 before; the last list stays in force',
      isHeld: true,
    });
    expect(rejectionOf(50, 100, null)).toBeNull();
  });

  it('holds a list with more than four times the domains of the last one', () => {
    expect(rejectionOf(401, 100, 99)).toEqual({
      problem:
        'lists 401 domains, more than four times the 100 before: 302 are new, 1 are gone; the last list stays in force',
      isHeld: true,
    });
    expect(rejectionOf(400, 100, 99)).toBeNull();
  });

  it('accepts any list when there was none before', () => {
    expect(rejectionOf(1, null, null)).toBeNull();
  });
});
