import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Harness, startHarness } from '../testing/harness.js';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.js';

const WAIT_MS = 6_000;
const BUSY = { detail: 'Earlier changes take too long. Nothing was changed, so try again' };
const LISTS = { blockpages: [], bw_lists: [], nets: [], nets6: [], napts: [] };
const CONFIGURATION = { ...LISTS, profiles: [{ profile: { id: 1, page_id: null } }] };
const RULE = { type: 'deny', domain: 'example.com' };

let harness: Harness;
let proxy: TcpProxy;
/** How long each change asked PostgreSQL to wait for the head. */
const headWaitsMs: number[] = [];
/** Stands for a replica that makes a change. */
let other: pg.Client;

beforeAll(async () => {
  const { hostname, port } = new URL(inject('databaseUrl'));
  proxy = await startTcpProxy({ host: hostname, port: Number(port) }, (bytes) => {
    for (const [, ms] of bytes.toString('latin1').matchAll(/\b(\d+)ms\b/g))
      headWaitsMs.push(Number(ms));
  });
  const variables = { CHANGE_WAIT_MS: String(WAIT_MS) };
  harness = await startHarness(variables, { databasePort: proxy.port });
  other = new pg.Client(harness.environment['DATABASE_URL']);
  await other.connect();
  // It also starts the thread.
  expect((await harness.call('POST', '/init/', CONFIGURATION)).status).toBe(204);
});
afterAll(async () => {
  await other.end();
  await harness.stop();
  await proxy.stop();
});

it.each([
  ['POST /init/', '/init/', CONFIGURATION],
  ['a change', '/profile/1/bw_list', RULE],
])('CHANGE_WAIT_MS is the wait of %s in all, in the queue and for the head', async (...args) => {
  const [, path, body] = args;
  await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
  headWaitsMs.length = 0;
  const first = harness.call('POST', '/profile/1/bw_list', RULE);
  await expect.poll(() => headWaitsMs.length).toBe(1);
  const waitingMs = performance.now();
  await sleep(500);
  const laterMs = performance.now() - waitingMs;
  const behind = await harness.call('POST', path, body);
  expect([behind.status, behind.body]).toEqual([503, BUSY]);
  expect([(await first).status, (await first).body]).toEqual([503, BUSY]);
  // When the first one has failed, the other has as long as it came later, or has given up in the queue.
  const [whole, rest = 0] = headWaitsMs;
  expect(whole).toBeGreaterThan(WAIT_MS / 2);
  expect(rest).toBeLessThan(laterMs + WAIT_MS / 2);
  await other.query('ROLLBACK');
  expect((await harness.call('POST', path, body)).status).toBeLessThan(300);
});
