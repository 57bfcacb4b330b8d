import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { actAs } from '../../revisions/change-record.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { openPool } from '../../testing/open-pool.js';
import { startTcpProxy, type TcpProxy } from '../../testing/tcp-proxy.js';
import { copyIn } from './copy.js';
import { isDatabaseUnreachable } from './database-errors.js';
import { Database } from './database.js';
import { inTransaction } from './transaction.js';

const NOBODY = {
  propagate: () => Promise.resolve({ applied: 0, total: 0 }),
};
/** Longer than a test may take. */
const LONGEST_MS = 3_600_000;
/** More than the operating system holds back for a connection. */
const LARGE = 'x'.repeat(20_000_000);

describe('a connection that is lost while PostgreSQL answers on others', () => {
  let url: string;
  let proxy: TcpProxy;
  let database: Database;
  let observer: ReturnType<typeof openPool>;
  let writer: ConfigurationWriter;

  beforeEach(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    const { hostname, port } = new URL(url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    database = new Database(proxied.href, pino({ level: 'silent' }), LONGEST_MS);
    observer = openPool({ connectionString: url });
    writer = new ConfigurationWriter(database, NOBODY, { changeMs: 0, replacementMs: 0 });
  });
  afterEach(async () => {
    await proxy.stop();
    await Promise.all([database.close(), observer.end()]);
    await dropDatabase(inject('databaseUrl'), url);
  });

  /** How many have the head locked. */
  const holders = async (): Promise<number> => {
    const { rows } = await observer.query(`
      SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE datname = current_database() AND relation = 'config_head'::regclass`);
    return rows.length;
  };
  const change = (onMake: () => void = () => undefined) =>
    actAs({ origin: 'repair' }, () =>
      writer.write({
        need: () => undefined,
        make: () => {
          onMake();
          return { result: null, changes: [] };
        },
      }),
    );

  it('fails its query, long before the longest wait', async () => {
    proxy.loseAt('lost');
    await expect(database.pool.query("SELECT 'lost'")).rejects.toSatisfy(isDatabaseUnreachable);
  });

  it('fails its query when PostgreSQL has ended the session meanwhile', async () => {
    const client = await database.pool.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    proxy.loseAt('gone');
    const lost = client.query("SELECT 'gone'");
    await observer.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await expect(lost).rejects.toSatisfy(isDatabaseUnreachable);
    client.release(true);
  });

  it('fails its change and lets go of the head, and the changes that waited are made', async () => {
    expect((await change()).revision).toBe(1);
    proxy.loseAt('SAVEPOINT change');
    // Too late for the group of the first one.
    const waiting = Promise.withResolvers<number>();
    const lost = change(() => {
      waiting.resolve(change().then(({ revision }) => revision));
    });
    await expect(lost).rejects.toSatisfy(isDatabaseUnreachable);
    expect(await waiting.promise).toBe(2);
  });

  it('ends its session, so that the locks of its transaction are free', async () => {
    proxy.loseAt('SELECT 7');
    const work = inTransaction(database.pool, async (client) => {
      await client.query('SELECT FROM config_head FOR UPDATE');
      await client.query('SELECT 7');
    });
    await expect(work).rejects.toSatisfy(isDatabaseUnreachable);
    await expect.poll(holders).toBe(0);
  });

  it('ends its session in the middle of a statement', async () => {
    const work = inTransaction(database.pool, async (client) => {
      await client.query('SELECT FROM config_head FOR UPDATE');
      proxy.loseAt('here');
      await client.query('SELECT $1::text', [`${LARGE}here${LARGE}`]);
    });
    await expect(work).rejects.toSatisfy(isDatabaseUnreachable);
    await expect.poll(holders).toBe(0);
  });

  /** Copies rows while the head is locked. Their text has a 7 in its second part. */
  const copyUnderLock = (beforeSecond: () => void): Promise<number> =>
    inTransaction(database.pool, async (client) => {
      await client.query('SELECT FROM config_head FOR UPDATE');
      await client.query('CREATE TEMPORARY TABLE copied (value integer) ON COMMIT DROP');
      const rows = async function* () {
        yield '0\n'.repeat(100_000);
        await setImmediate();
        beforeSecond();
        yield '7\n'.repeat(100_000);
      };
      return copyIn(client, 'copied', rows());
    });

  it('ends its session in the middle of a COPY', async () => {
    await expect(copyUnderLock(() => proxy.loseAt('7'))).rejects.toSatisfy(isDatabaseUnreachable);
    await expect.poll(holders).toBe(0);
  });

  it('ends its session when PostgreSQL answers again', async () => {
    await expect(copyUnderLock(() => proxy.freezeAt('7'))).rejects.toSatisfy(isDatabaseUnreachable);
    expect(await holders()).toBeGreaterThan(0);
    proxy.restore();
    await expect.poll(holders).toBe(0);
  });

  it('is not mistaken for a COPY whose rows take long', async () => {
    const rows = async function* () {
      yield '0\n';
      // The watch asks after 2 s.
      await sleep(3_500);
      yield '7\n';
    };
    const copied = inTransaction(database.pool, async (client) => {
      await client.query('CREATE TEMPORARY TABLE copied (value integer) ON COMMIT DROP');
      return copyIn(client, 'copied', rows());
    });
    expect(await copied).toBe(2);
  });
});
