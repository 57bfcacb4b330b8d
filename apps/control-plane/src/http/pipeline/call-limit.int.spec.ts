import { afterEach, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { holdCall } from '../../testing/hold-call.js';

let harness: Harness;
afterEach(() => harness.stop());

const TOO_MANY = { detail: expect.stringContaining('Too many calls') as string };

it('a token has so many calls at a time, the rest get 429 with Retry-After, and others are served', async () => {
  harness = await startHarness({ MANAGEMENT_CALLS_AT_ONCE: '2' });
  const port = harness.controlPlane.managementPort;
  const releases = [await holdCall(port, TOKEN), await holdCall(port, TOKEN)];
  const refused = await harness.call('GET', '/blockpage/');
  expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
    429,
    '1',
    TOO_MANY,
  ]);
  const other = { Authorization: 'Bearer second-token-of-the-tests' };
  expect((await harness.call('GET', '/blockpage/', undefined, other)).status).toBe(200);
  for (const release of releases) release();
  await expect.poll(async () => (await harness.call('GET', '/blockpage/')).status).toBe(200);
});

it('a token has so many calls a second', async () => {
  harness = await startHarness({ MANAGEMENT_CALLS_PER_SECOND: '1' });
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async () => (await harness.call('GET', '/blockpage/')).status),
  );
  expect(statuses).toContain(429);
  expect(statuses.filter((status) => status !== 429 && status !== 200)).toEqual([]);
  await expect
    .poll(async () => (await harness.call('GET', '/blockpage/')).status, { interval: 1_100 })
    .toBe(200);
});
