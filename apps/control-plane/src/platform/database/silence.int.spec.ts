import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { actAs } from '../../revisions/change-record.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { openPool } from '../../testing/open-pool.js';
import { startTcpProxy, type TcpProxy } from '../../testing/tcp-proxy.js';
import { confirmCommit } from './commit-outcome.js';
import { beginSession, connectionSettings, endIfWaiting, sessionQuestions } from './connections.js';
import { isDatabaseUnreachable } from './database-errors.js';
import { Database } from './database.js';

const NOBODY = {
  propagate: () => Promise.resolve({ applied: 0, total: 0 }),
};

describe('a replica that loses PostgreSQL without a closed connection', () => {
  let url: string;
  let proxy: TcpProxy;
  const databases: Database[] = [];

  beforeEach(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    const { hostname, port } = new URL(url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  });
  afterEach(async () => {
    await proxy.stop();
    await Promise.all(databases.splice(0).map((database) => database.close()));
    await dropDatabase(inject('databaseUrl'), url);
  });

  /** @returns a function that makes an empty change on a new replica. */
  const replica = (port: string) => {
    const own = new URL(url);
    own.port = port;
    const database = new Database(own.href, pino({ level: 'silent' }));
    databases.push(database);
    const writer = new ConfigurationWriter(database, NOBODY, { changeMs: 0, replacementMs: 0 });
    return () =>
      actAs({ origin: 'repair' }, () =>
        writer.write({ need: () => undefined, make: () => ({ result: null, changes: [] }) }),
      );
  };

  it('blocks the other replicas for seconds, not until TCP gives up', async () => {
    const cutOff = replica(String(proxy.port));
    const other = replica(new URL(url).port);
    expect((await cutOff()).revision).toBe(1);
    proxy.freezeAt('SAVEPOINT change');
    await expect(cutOff()).rejects.toSatisfy(isDatabaseUnreachable);
    expect((await other()).revision).toBe(2);
  });
});

describe('a statement that takes long', () => {
  it('is waited for, because PostgreSQL answers on a new connection', async () => {
    const database = new Database(inject('databaseUrl'), pino({ level: 'silent' }));
    const { rows } = await database.pool.query('SELECT 7 AS value FROM pg_sleep(3)');
    expect(rows).toEqual([{ value: 7 }]);
    await database.close();
  });

  it('is not waited for any more after the longest time of its connection', async () => {
    const database = new Database(inject('databaseUrl'), pino({ level: 'silent' }), 3_000);
    const query = database.pool.query('SELECT FROM pg_sleep(30)');
    await expect(query).rejects.toSatisfy(isDatabaseUnreachable);
    await database.close();
  });

  it('ends in PostgreSQL too when it is given up, also while it waits for a lock', async () => {
    const url = await createFreshDatabase(inject('databaseUrl'));
    const database = new Database(url, pino({ level: 'silent' }), 3_000);
    const holder = openPool({ connectionString: url, max: 1 });
    await holder.query('BEGIN; LOCK TABLE block_page IN ACCESS EXCLUSIVE MODE');
    const query = database.pool.query('SELECT FROM block_page');
    await expect(query).rejects.toSatisfy(isDatabaseUnreachable);
    const waiting = async () => {
      const { rows } = await holder.query(`
        SELECT FROM pg_locks WHERE NOT granted AND relation = 'block_page'::regclass`);
      return rows.length;
    };
    await expect.poll(waiting, { timeout: 20_000 }).toBe(0);
    await holder.end();
    await database.close();
    await dropDatabase(inject('databaseUrl'), url);
  });
});

it('a session whose answer came while its question was on the way is not ended', async () => {
  const url = new URL(inject('databaseUrl'));
  const [host, port] = [url.hostname, Number(url.port)];
  const slow = createServer((near) => {
    near.on('error', () => undefined);
    setTimeout(
      () => near.pipe(connect(port, host).on('error', () => near.destroy())).pipe(near),
      1_500,
    );
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const client = new pg.Client(url.href);
  await client.connect();
  url.port = String((slow.address() as AddressInfo).port);
  await beginSession(client, sessionQuestions(connectionSettings(url.href)), 3_600_000);
  // The question is asked after 2 s and arrives after 3.5 s. PostgreSQL waits for this client then.
  await client.query('BEGIN; SELECT FROM pg_sleep(2.3)');
  await sleep(2_500);
  await client.query('COMMIT');
  await client.end();
  slow.close();
});

it('a PostgreSQL that does not answer is asked once for all sessions that wait', async () => {
  let connections = 0;
  const silent = createServer(() => connections++);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const ask = sessionQuestions(connectionSettings(`postgresql://weir@127.0.0.1:${port}/weir`));
  const answers = await Promise.all(['1 1', '2 1', '3 1'].map((one) => ask(one, () => true)));
  expect(answers).toEqual([null, null, null]);
  expect(connections).toBe(1);
  silent.close();
});

it('a process that was itself held up does not take PostgreSQL for silent', async () => {
  const asked = endIfWaiting(connectionSettings(inject('databaseUrl')), '');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
  expect(await asked).not.toBeNull();
});

it('PostgreSQL ends the session of a client whose host is gone', async () => {
  const database = new Database(inject('databaseUrl'), pino({ level: 'silent' }));
  const { rows } = await database.pool.query<{ setting: string }>(
    `SELECT setting FROM pg_settings WHERE name LIKE 'tcp_%' ORDER BY name`,
  );
  expect(rows.map(({ setting }) => Number(setting))).toEqual([5, 5, 1, 10_000]);
  await database.close();
});

describe('a COMMIT whose answer was lost', () => {
  const lose = (connectionString: string, id: string) => {
    const pool = openPool({ connectionString });
    return confirmCommit<null>(pool, (beforeCommit) => {
      beforeCommit(null, { id, revision: 1, beganMs: 0 });
      return Promise.reject(new Error('the connection broke'));
    }).finally(() => void pool.end());
  };

  it('counts as undone when the database has not assigned its id yet, as after a crash', async () => {
    await expect(lose(inject('databaseUrl'), '9000000000')).rejects.toThrow('the connection broke');
  });

  it('counts as undone when another transaction has its id after a crash', async () => {
    const url = await createFreshDatabase(inject('databaseUrl'));
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
    await expect(lose(url, rows[0].id)).rejects.toThrow('the connection broke');
    await client.end();
    await dropDatabase(inject('databaseUrl'), url);
  });

  it('stays unknown while it waits for a synchronous standby, and the wait is not ended', async () => {
    const url = await createFreshDatabase(inject('databaseUrl'));
    const [client, admin] = [new pg.Client(url), new pg.Client(url)];
    await Promise.all([client.connect(), admin.connect()]);
    await client.query('SET synchronous_commit = on');
    // All other databases of the server commit without a wait.
    await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'away'");
    try {
      await admin.query('SELECT pg_reload_conf()');
      let id = '';
      // PostgreSQL takes a moment to read its settings.
      for (let isWaiting = false; !isWaiting;) {
        await client.query('BEGIN; INSERT INTO job_run VALUES (gen_random_uuid(), now(), 0)');
        const { rows } = await client.query<{ id: string }>(
          'SELECT pg_current_xact_id()::text AS id',
        );
        id = rows[0].id;
        let isDone = false;
        void client.query('COMMIT').then(() => (isDone = true));
        while (!isDone && !isWaiting) {
          const waiting = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
          isWaiting = (await admin.query(waiting)).rowCount === 1;
        }
      }
      await expect(lose(url, id)).rejects.toMatchObject({ name: 'CommitUnknownError' });
    } finally {
      await admin.query('ALTER SYSTEM RESET synchronous_standby_names');
      await admin.query('SELECT pg_reload_conf()');
    }
    // Behind the COMMIT.
    expect((await client.query('SELECT 1')).rowCount).toBe(1);
    await Promise.all([client.end(), admin.end()]);
    await dropDatabase(inject('databaseUrl'), url);
  });

  it('throws CommitUnknownError when the database does not answer', async () => {
    const url = new URL(inject('databaseUrl'));
    url.pathname = '/no-such-database';
    await expect(lose(url.href, '3')).rejects.toMatchObject({ name: 'CommitUnknownError' });
  });
});

describe('a PostgreSQL that hangs', () => {
  it('lets no replacement wait for the failure of another one', async () => {
    const { hostname, port } = new URL(inject('databaseUrl'));
    const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const harness = await startHarness({}, { databasePort: proxy.port });
    const empty = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
    proxy.freeze();
    // One after the other, these would take longer than a test may.
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => harness.call('POST', '/init/', empty)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    proxy.restore();
    await harness.stop();
    await proxy.stop();
  });
});

describe('a request that exceeds a timeout of the database', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness();
  });
  afterEach(() => harness.stop());

  it.each(['lock_timeout', 'statement_timeout'])(
    '(%s) is answered 503 with Retry-After, and changes nothing',
    async (setting) => {
      expect((await harness.call('POST', '/blockpage/', { id: 1, type: 0 })).status).toBe(201);
      const databaseUrl = harness.environment['DATABASE_URL'];
      const own = new URL(databaseUrl);
      own.searchParams.set('application_name', 'impatient');
      const replica = await harness.startReplica({ DATABASE_URL: own.href });
      const holder = new pg.Client(databaseUrl);
      await holder.connect();
      // After a failed test, the client stays connected until the database is dropped.
      holder.on('error', () => undefined);
      const call = (method: string, path: string, body?: object) =>
        fetch(`http://127.0.0.1:${replica.managementPort}${path}`, {
          method,
          headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
      // For its connections from now on: its start, and that of the holder, may take longer.
      await harness.sql(`ALTER DATABASE "${own.pathname.slice(1)}" SET ${setting} = '200ms'`);
      await harness.sql(`
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'impatient'`);
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE block_page IN ACCESS EXCLUSIVE MODE');
      for (const [method, path, body] of [
        ['GET', '/blockpage/'],
        ['GET', '/blockpage/1'],
        ['POST', '/blockpage/', { id: 2, type: 0 }],
        ['PATCH', '/blockpage/1', { type: 1 }],
      ] as const) {
        const answer = await call(method, path, body);
        const seen = [method, path, answer.status, answer.headers.get('retry-after')];
        expect(seen).toEqual([method, path, 503, '1']);
        expect(await answer.json()).toEqual({
          detail: expect.stringContaining('Nothing was changed'),
        });
      }
      await holder.end();
      const pages = async (): Promise<unknown> => (await call('GET', '/blockpage/')).json();
      await expect.poll(pages).toEqual([{ id: 1, type: 0 }]);
      await replica.stop();
    },
  );
});
