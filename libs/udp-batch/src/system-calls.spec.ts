import { expect, it } from 'vitest';
import { loadSystemCalls } from './system-calls.js';

// All tests of batches are skipped where there are none, so this one is not.
it.skipIf(process.platform !== 'linux')('has the calls for batches on Linux', () => {
  const missing: string[] = [];
  expect(loadSystemCalls((reason) => missing.push(reason))).not.toBeNull();
  expect(missing).toEqual([]);
});
