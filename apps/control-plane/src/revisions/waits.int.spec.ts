import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { type Harness, startHarness } from '../testing/harness.js';

const WAIT_MS = 4_000;
const BUSY = { detail: 'Earlier changes take too long. Nothing was changed, so try again' };
const LISTS = { blockpages: [], bw_lists: [], nets: [], nets6: [], napts: [] };
const CONFIGURATION = { ...LISTS, profiles: [{ profile: { id: 1, page_id: null } }] };
const RULE = { type: 'deny', domain: 'example.com' };

let harness: Harness;
let second: ControlPlane;
/** Stands for a replica that makes a change. */
let other: pg.Client;

beforeAll(async () => {
  harness = await startHarness({ CHANGE_WAIT_MS: String(WAIT_MS) });
  second = await harness.startReplica();
  other = new pg.Client(harness.environment['DATABASE_URL']);
  await other.connect();
  expect((await harness.call('POST', '/init/', CONFIGURATION)).status).toBe(204);
});
afterAll(async () => {
  await other.end();
  await second.stop();
  await harness.stop();
});

it('CHANGE_WAIT_MS is the wait of a change in all, in the queue and for the head', async () => {
  await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
  const startedMs = performance.now();
  const onSecond = async (path: string, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${second.managementPort}${path}`, {
      method: 'POST',
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const first = [
    harness.call('POST', '/profile/1/bw_list', RULE),
    onSecond('/init/', CONFIGURATION),
  ];
  await sleep(WAIT_MS / 2);
  // Behind those, in the queue of the same replica, and then for the head.
  const behind = [
    harness.call('POST', '/init/', CONFIGURATION),
    onSecond('/profile/1/bw_list', RULE),
  ];
  const timed = [...first, ...behind].map(async (call) => {
    const { status, body } = await call;
    return { status, body, tookMs: performance.now() - startedMs };
  });
  for (const [i, { status, body, tookMs }] of (await Promise.all(timed)).entries()) {
    expect([status, body]).toEqual([503, BUSY]);
    // Two whole waits in a row would take the later ones at least ten seconds.
    expect(tookMs).toBeLessThan((i < 2 ? 0 : WAIT_MS / 2) + WAIT_MS + 1_500);
  }
  await other.query('ROLLBACK');
  expect((await harness.call('POST', '/profile/1/bw_list', RULE)).status).toBe(201);
});
