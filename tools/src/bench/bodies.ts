import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { integerOption, optionsOrExit } from '../command-options.js';
import { print } from '../output.js';
import { probeCall } from './call-probe.js';
import { startDrainProcess } from './drain-process.js';
import { FULL_SIZE, initBody } from './init-body.js';
import { summarise } from './latencies.js';
import { describeLoad } from './machine.js';
import { startServices } from './services.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAUSE_MS = 5;

const HELP = `npm run bench:bodies -- [--seconds 10]

Measures small calls of the management API while large bodies come in, one after the other. It starts PostgreSQL, Redis
and a control plane, and makes the calls from a thread for each kind. Bodies that go to a process that only reads them
show what the sender alone costs the small calls on this machine.
seconds: for each kind of body`;

const seconds = optionsOrExit(HELP, { seconds: { type: 'string', default: '10' } }, (values) =>
  integerOption('seconds', values.seconds, 1, 3_600),
);

const list = (count: number, item: (i: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, i) => item(i));
const domains = list(100_000, (i) => `host-${i}.example.com`);
const napts = list(100_000, (i) => ({
  ip: `100.64.${i >> 9}.${(i >> 1) & 255}`,
  lower_port_bound: (i & 1) * 1024,
  upper_port_bound: (i & 1) * 1024 + 1023,
}));
const addedNapts = napts.map((key) => ({ ...(key as object), profile_id: 1 }));
const periods = list(100_000, (i) => ({
  start: { day: i % 7, time: '18:00' },
  end: { day: (i + 1) % 7, time: i & 1 ? '06:30' : '07:00' },
}));
const categories = list(100_000, (i) => (i * 7919) % 1_000_003);
const apps = list(100_000, (i) => ({ app_id: 900_000_000 + i }));
const fields = Object.fromEntries(list(1_000_000, (i) => [`k${i}`, 0]) as [string, number][]);
const DEEP_LISTS = '['.repeat(16e6);
/** Bodies by name, with their path. */
const BODIES: Readonly<Record<string, readonly [string, string]>> = {
  nothing: ['', ''],
  '100,000 domains': ['/profile/1/bw_list/batch', JSON.stringify({ type: 'deny', domains })],
  '100,000 domains, the last one faulty': [
    '/profile/1/bw_list/batch',
    JSON.stringify({ type: 'deny', domains: [...domains, 'a..b'].slice(1) }),
  ],
  '100,000 faulty domains': [
    '/profile/1/bw_list/batch',
    JSON.stringify({ type: 'deny', domains: domains.map(() => 'a..b') }),
  ],
  '100,000 unknown applications': ['/profiles/', JSON.stringify({ profile: { id: 3 }, apps })],
  'deep lists': ['/napt/batch', DEEP_LISTS],
  'millions of objects': ['/napt/batch', `[${'{},'.repeat(5.3e6)}{}]`],
  'a million fields': ['/blockpage/', JSON.stringify(fields)],
  'no JSON': ['/blockpage/', ' '.repeat(16e6)],
};

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-bodies-'));
const services = await startServices(ROOT, folder);
const { client } = services;
const { url, opsUrl, token } = services.controlPlane;
try {
  for (const id of [1, 2]) await client.sendJson('POST', '/profiles/', { profile: { id } });
  const drain = await startDrainProcess();
  await measure('deep lists, to another process', () => post('/', DEEP_LISTS, 'POST', drain.url));
  await drain.stop();
  for (const [name, [path, body]] of Object.entries(BODIES)) {
    await measure(name, () => (path === '' ? sleep(PAUSE_MS) : post(path, body)));
  }
  await measure('100,000 NAPT ranges, added and deleted', async () => {
    await post('/napt/batch', JSON.stringify(addedNapts));
    await post('/napt/batch', JSON.stringify(napts), 'DELETE');
  });
  await measure('a schedule of 100,000 periods, created and deleted', async () => {
    await post('/profile/1/schedule', JSON.stringify({ target_profile_id: 2, periods }));
    await post('/profile/1/schedule', '{"target_profile_id":2}', 'PATCH');
    await post('/profile/1/schedule', '', 'DELETE');
  });
  await measure('a profile with 100,000 categories, changed twice', async () => {
    await post('/profiles/2', JSON.stringify({ cat_ids: categories }), 'PATCH');
    await post('/profiles/2', '{"cat_ids":[]}', 'PATCH');
  });
  await measure('POST /init/ of 1 M networks', () =>
    client.send('POST', '/init/', initBody(FULL_SIZE, 0)),
  );
} finally {
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function post(path: string, body: string, method = 'POST', base = url): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${base}${path}`, { method, headers, ...(body && { body }) });
  await response.arrayBuffer();
}

/** Measures small calls while one body after the other is sent, at least one. */
async function measure(name: string, sendBody: () => Promise<unknown>): Promise<void> {
  const authorised = { Authorization: `Bearer ${token}` };
  const calls = {
    'GET /profiles/1': { url: `${url}/profiles/1`, headers: authorised, pauseMs: PAUSE_MS },
    'GET /livez': { url: `${opsUrl}/livez`, headers: {}, pauseMs: PAUSE_MS },
    'GET /readyz': { url: `${opsUrl}/readyz`, headers: {}, pauseMs: PAUSE_MS },
  };
  const probes = await Promise.all(
    Object.entries(calls).map(async ([call, probed]) => [call, await probeCall(probed)] as const),
  );
  const endMs = performance.now() + seconds * 1000;
  let bodies = 0;
  do {
    await sendBody();
    bodies++;
  } while (performance.now() < endMs);
  const stopped = probes.map(async ([call, stop]) => [call, await stop()] as const);
  print(`${name}, ${bodies} bodies (${describeLoad()}, a pause of ${PAUSE_MS} ms between calls)`);
  for (const [call, latencies] of await Promise.all(stopped)) {
    print(`  ${call}: ${summarise(latencies)}`);
  }
}
