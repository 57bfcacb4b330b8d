import { expect, it } from 'vitest';
import { withClient } from './write-backup.js';

it('withClient reports in one line that the database cannot be reached', async () => {
  await expect(
    withClient(
      'postgresql://weir@127.0.0.1:1/weir',
      new AbortController().signal,
      () => 'failed',
      () => Promise.resolve(),
    ),
  ).rejects.toThrow(/^failed: the database cannot be reached: .*ECONNREFUSED 127\.0\.0\.1:1 .*$/);
});
