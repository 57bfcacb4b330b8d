import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../testing/harness.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const BUSY = {
  detail: 'Earlier changes take too long. Nothing was changed, so try again',
};

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ CHANGE_WAIT_MS: '300' });
});
afterAll(() => harness.stop());

it('a change of another replica that takes too long gives 503 busy, and reads go on', async () => {
  const other = new pg.Client(harness.environment['DATABASE_URL']);
  await other.connect();
  await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
  const requests = [
    ['POST', '/blockpage/', { id: 1, type: 0 }],
    ['POST', '/init/', EMPTY],
  ] as const;
  const answers = await Promise.all(
    // The second of each waits in the queue of its replica.
    [...requests, ...requests].map(([method, path, body]) => harness.call(method, path, body)),
  );
  for (const { status, headers, body } of answers) {
    expect([status, headers.get('retry-after'), body]).toEqual([503, '1', BUSY]);
  }
  expect((await harness.call('GET', '/blockpage/')).body).toEqual([]);
  await other.query('ROLLBACK');
  await other.end();
  expect((await harness.call('POST', '/blockpage/', { id: 1, type: 0 })).status).toBe(201);
});

it('an earlier lock_timeout of the operator counts', async () => {
  const name = new URL(harness.environment['DATABASE_URL']).pathname.slice(1);
  await harness.sql(`ALTER DATABASE "${name}" SET lock_timeout = '100ms'`);
  const replica = await harness.startReplica({ CHANGE_WAIT_MS: '25000' });
  const other = new pg.Client(harness.environment['DATABASE_URL']);
  await other.connect();
  await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
  const answer = await fetch(`http://127.0.0.1:${replica.managementPort}/blockpage/`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id: 2, type: 0 }),
    // Well before the wait of the replica ends.
    signal: AbortSignal.timeout(20_000),
  });
  expect(answer.status).toBe(503);
  await other.end();
  await replica.stop();
});
