import { STALE_WINDOWS } from '@weir/change-feed';
import { expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { CHANGES_KEPT, HOURS_KEPT } from '../revisions/pruning.js';

it('the change log reaches back further than any snapshot that is sent', () => {
  const longestS = 3 * 3600;
  const mostRevisions = 20_000;
  expect(() => SCHEMA.SNAPSHOT_MAX_AGE_S.parse(String(longestS + 1))).toThrow();
  expect(() => SCHEMA.SNAPSHOT_MAX_REVISIONS.parse(String(mostRevisions + 1))).toThrow();
  expect(STALE_WINDOWS * longestS).toBeLessThan(HOURS_KEPT * 3600);
  expect(STALE_WINDOWS * mostRevisions).toBeLessThan(CHANGES_KEPT);
});
