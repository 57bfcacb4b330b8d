import { describe, expect, it } from 'vitest';
import { retryAfterMs, StatusError } from './feed-requests.js';

describe('retryAfterMs', () => {
  it('is what the header says, and up to a second more', () => {
    expect([retryAfterMs('7', 0), retryAfterMs('7', 0.5)]).toEqual([7_000, 7_500]);
  });

  it('is ten minutes at most', () => {
    expect(retryAfterMs('999999999', 0)).toBe(600_000);
  });

  it.each([undefined, '', 'soon', '-1', '1.5', 'Sun, 22 Nov 2026 12:00:00 GMT', '9'.repeat(40)])(
    'is nothing for %j',
    (header) => {
      expect(retryAfterMs(header, 0.5)).toBe(0);
    },
  );

  it('counts for statuses only that may change', () => {
    expect(new StatusError(404, 'snapshot', '7').retryAfterMs).toBe(0);
    expect(new StatusError(503, 'snapshot', '7').retryAfterMs).toBeGreaterThanOrEqual(7_000);
  });
});
