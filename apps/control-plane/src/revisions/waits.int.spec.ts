import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../testing/harness.js';

const WAIT_MS = 4_000;
const BUSY = { detail: 'Earlier changes take too long. Nothing was changed, so try again' };
const LISTS = { blockpages: [], bw_lists: [], nets: [], nets6: [], napts: [] };
const CONFIGURATION = { ...LISTS, profiles: [{ profile: { id: 1, page_id: null } }] };
const RULE = { type: 'deny', domain: 'example.com' };

let harness: Harness;
/** Stands for a replica that makes a change. */
let other: pg.Client;

beforeAll(async () => {
  harness = await startHarness({ CHANGE_WAIT_MS: String(WAIT_MS) });
  other = new pg.Client(harness.environment['DATABASE_URL']);
  await other.connect();
  // It also starts the thread.
  expect((await harness.call('POST', '/init/', CONFIGURATION)).status).toBe(204);
});
afterAll(async () => {
  await other.end();
  await harness.stop();
});

it.each([
  ['POST /init/', '/init/', CONFIGURATION],
  ['a change', '/profile/1/bw_list', RULE],
])('CHANGE_WAIT_MS is the wait of %s in all, in the queue and for the head', async (...args) => {
  const [, path, body] = args;
  await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
  const first = harness.call('POST', '/profile/1/bw_list', RULE);
  await sleep(WAIT_MS / 2);
  const startedMs = performance.now();
  const behind = await harness.call('POST', path, body);
  expect([behind.status, behind.body]).toEqual([503, BUSY]);
  // Half of it in the queue; a whole wait for the head after it would be two seconds more.
  expect(performance.now() - startedMs).toBeLessThan(WAIT_MS + 1_500);
  expect([(await first).status, (await first).body]).toEqual([503, BUSY]);
  await other.query('ROLLBACK');
  expect((await harness.call('POST', path, body)).status).toBeLessThan(300);
});
