import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, afterEach, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { type Harness, startHarness } from '../testing/harness.js';
import { LARGE_ITEMS } from './large-changes.js';

const WAIT_MS = 4_000;
const BUSY = { detail: 'Earlier changes take too long. Nothing was changed, so try again' };
const LISTS = { blockpages: [], bw_lists: [], nets: [], nets6: [], napts: [] };
const CONFIGURATION = { ...LISTS, profiles: [{ profile: { id: 1, page_id: null } }] };
const DOMAINS = Array.from({ length: LARGE_ITEMS + 1 }, (_, i) => `host-${i}.example.com`);
const RULE = { type: 'deny', domain: 'example.com' };
/** Keys of the advisory locks of `parts.ts`: everything, and the domain rules of profile 1. */
const [WHOLE, RULES_OF_1] = ['0, 0', '2, 1'];

let harness: Harness;
let second: ControlPlane;
/** Stands for a replica that makes changes. */
let other: pg.Client;

beforeAll(async () => {
  harness = await startHarness({ CHANGE_WAIT_MS: String(WAIT_MS) });
  second = await harness.startReplica();
  expect((await harness.call('POST', '/init/', CONFIGURATION)).status).toBe(204);
});
afterAll(async () => {
  await second.stop();
  await harness.stop();
});
beforeEach(async () => {
  other = new pg.Client(harness.environment['DATABASE_URL']);
  await other.connect();
});
afterEach(() => other.end());

/** Sessions that wait for an advisory lock. */
const untilWaiting = (n: number) =>
  expect
    .poll(() => harness.sql(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`))
    .toHaveLength(n);

it('small changes of a replica are made while its /init/ waits for a large change of another', async () => {
  await other.query(`SELECT pg_advisory_lock_shared(${WHOLE})`);
  const init = harness.call('POST', '/init/', CONFIGURATION);
  await untilWaiting(1);
  const statuses: number[] = [];
  for (const id of [1, 2, 3]) {
    statuses.push((await harness.call('POST', '/blockpage/', { id, type: 0 })).status);
  }
  expect(statuses).toEqual([201, 201, 201]);
  await other.query(`SELECT pg_advisory_unlock_shared(${WHOLE})`);
  expect((await init).status).toBe(204);
});

it('CHANGE_WAIT_MS is the wait of a change in all, for whatever it waits', async () => {
  await other.query(`SELECT pg_advisory_lock(${WHOLE}), pg_advisory_lock(${RULES_OF_1})`);
  const startedMs = performance.now();
  const calls = [
    // Waits for its list, then in the queue, then for the head.
    harness.call('POST', '/profile/1/bw_list', RULE),
    // Waits for everything, then for its list, then in the queue.
    harness.call('POST', '/profile/1/bw_list/batch', { type: 'deny', domains: DOMAINS }),
    // Waits for everything, then for the head.
    fetch(`http://127.0.0.1:${second.managementPort}/init/`, {
      method: 'POST',
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify(CONFIGURATION),
    }).then(async (answer) => ({ status: answer.status, body: await answer.json() })),
  ].map(async (call) => ({ ...(await call), tookMs: performance.now() - startedMs }));
  await untilWaiting(3);
  await sleep(startedMs + WAIT_MS - 1_000 - performance.now());
  await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
  await other.query('SELECT pg_advisory_unlock_all()');
  for (const { status, body, tookMs } of await Promise.all(calls)) {
    expect([status, body]).toEqual([503, BUSY]);
    // Two waits in a row would take at least seven seconds.
    expect(tookMs).toBeLessThan(WAIT_MS + 2_000);
  }
  await other.query('ROLLBACK');
  expect((await harness.call('POST', '/profile/1/bw_list', RULE)).status).toBe(201);
});
