import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import { migrate } from '../migrate/migrate.js';
import { type ControlPlane, startControlPlane } from '../testing/control-plane.js';
import { type PostgresServer, startPostgres } from './postgres.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A call takes at most ten seconds. The rest is for a machine that does much else besides. */
const ANSWERED_MS = 60_000;
const RECOVERED = { interval: 250 };

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const CALLS = [
  ['GET', '/profiles/'],
  ['GET', '/profiles/1'],
  ['GET', '/net/'],
  ['GET', '/app_aware/application/'],
  ['POST', '/blockpage/', { id: 2, type: 0 }],
  ['PATCH', '/blockpage/1', { type: 1 }],
  ['DELETE', '/blockpage/1'],
  ['POST', '/init/', EMPTY],
] as const;

let folder: string;
let postgres: PostgresServer;
let controlPlane: ControlPlane;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-silent-'));
  postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    logFile: join(folder, 'postgres.log'),
    settings: ['fsync=off'],
  });
  await migrate({ databaseUrl: postgres.url, folder: join(ROOT, 'prisma/migrations') });
  controlPlane = await startControlPlane({
    root: ROOT,
    folder,
    databaseUrl: postgres.url,
    redisUrl: inject('redisUrl'),
  });
  expect((await call('POST', '/blockpage/', { id: 1, type: 0 })).status).toBe(201);
  expect((await call('POST', '/profiles/', { profile: { id: 1 } })).status).toBe(201);
});
afterEach(() => signal('SIGCONT'));
afterAll(async () => {
  await controlPlane.process.terminate();
  await postgres.stop();
  await rm(folder, { recursive: true });
});

/** Sends a signal to the server and to all of its sessions. */
function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of [postgres.child.pid, ...childrenOf(postgres.child.pid)]) {
    try {
      process.kill(pid, name);
    } catch {
      // This session has ended meanwhile.
    }
  }
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.map(Number).filter((pid) => {
    try {
      return (
        Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]) === parent
      );
    } catch {
      return false;
    }
  });
}

function call(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${controlPlane.url}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${controlPlane.token}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    signal: AbortSignal.timeout(ANSWERED_MS),
    ...(body && { body: JSON.stringify(body) }),
  });
}

it('every call is answered 503 while PostgreSQL is stopped in mid-air, and served when it goes on', async () => {
  // Every pool has connections that will hang.
  await Promise.all(Array.from({ length: 8 }, () => call('GET', '/profiles/1')));
  signal('SIGSTOP');
  // The first round finds connections that hang, the second has to connect.
  for (let round = 1; round <= 2; round++) {
    const ready = fetch(`${controlPlane.process.opsUrl}/readyz`, {
      signal: AbortSignal.timeout(ANSWERED_MS),
    });
    const answers = await Promise.all(
      // Several of each, so that more wait than a pool has connections.
      [...CALLS, ...CALLS].map(async ([method, path, body]) => {
        const answer = await call(method, path, body);
        return [
          method,
          path,
          answer.status,
          answer.headers.get('retry-after'),
          await answer.json(),
        ];
      }),
    );
    const detail = expect.stringContaining('Nothing was changed') as string;
    expect(answers).toEqual(
      [...CALLS, ...CALLS].map(([method, path]) => [method, path, 503, '1', { detail }]),
    );
    const { status, text } = { status: (await ready).status, text: await (await ready).text() };
    expect([status, text]).toEqual([503, 'PostgreSQL does not answer\n']);
  }
  signal('SIGCONT');
  await expect
    .poll(async () => (await fetch(`${controlPlane.process.opsUrl}/readyz`)).status, RECOVERED)
    .toBe(200);
  for (const [method, path, body] of CALLS) {
    expect([method, path, (await call(method, path, body)).ok]).toEqual([method, path, true]);
  }
});
