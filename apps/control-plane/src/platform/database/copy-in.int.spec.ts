import type { PoolClient } from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { streamOf } from './connections.js';
import { copyIn, type CopyText } from './copy.js';
import { Database } from './database.js';

const TARGET = 'copied (id)';
const DEADLINE = { timeout: 60_000 };
const MEGABYTE = 1024 * 1024;

describe('copyIn', () => {
  let url: string;
  let database: Database;
  let client: PoolClient;
  const idsOf = async (): Promise<number[]> =>
    (await client.query<{ id: number }>('SELECT id FROM copied ORDER BY id')).rows.map(
      ({ id }) => id,
    );

  beforeAll(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    database = new Database(url, pino({ level: 'silent' }));
    await database.pool.query('CREATE TABLE copied (id integer PRIMARY KEY)');
  });
  afterAll(async () => {
    await database.close();
    await dropDatabase(inject('databaseUrl'), url);
  });
  beforeEach(async () => {
    client = await database.pool.connect();
    await client.query('BEGIN');
  });
  afterEach(() => {
    client.release(true);
  });

  it('loads the rows of all pieces, wherever they are cut', async () => {
    await copyIn(client, TARGET, pieces('1\n2', '\n', '', '3\n'));
    expect(await idsOf()).toEqual([1, 2, 3]);
  });

  it('loads nothing when there are no rows', async () => {
    await copyIn(client, TARGET, pieces(''));
    expect(await idsOf()).toEqual([]);
  });

  it('throws the error of PostgreSQL about a row, and the transaction can be rolled back', async () => {
    await expect(copyIn(client, TARGET, pieces('1\n', '1\n'))).rejects.toMatchObject({
      code: '23505',
    });
    await client.query('ROLLBACK');
    expect(await idsOf()).toEqual([]);
  });

  it('reads no more rows after PostgreSQL has rejected one', async () => {
    let ended = false;
    async function* endless(): CopyText {
      try {
        for (;;) {
          yield 'x\n';
          await new Promise(setImmediate);
        }
      } finally {
        ended = true;
      }
    }
    await expect(copyIn(client, TARGET, endless())).rejects.toMatchObject({ code: '22P02' });
    await expect.poll(() => ended, DEADLINE).toBe(true);
    await client.query('ROLLBACK');
    expect(await idsOf()).toEqual([]);
  });

  it('throws the error of PostgreSQL about the table', async () => {
    await expect(copyIn(client, 'missing (id)', pieces('1\n'))).rejects.toMatchObject({
      code: '42P01',
    });
    await client.query('ROLLBACK');
    expect(await idsOf()).toEqual([]);
  });

  it.each([[''], ['1\n']])('throws the error of the iterator of rows, after %j', async (first) => {
    const failure = new Error('a bug');
    async function* failing(): CopyText {
      if (first !== '') yield first;
      await new Promise(setImmediate);
      throw failure;
    }
    await expect(copyIn(client, TARGET, failing())).rejects.toBe(failure);
    await client.query('ROLLBACK');
    expect(await idsOf()).toEqual([]);
  });

  it('fails when the connection is lost, also while PostgreSQL takes no rows', async () => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const pid = rows[0]?.pid;
    const lock = await holdRows();
    const copying = copyIn(client, TARGET, largeRows(1000));
    const failed = expect(copying).rejects.toThrow();
    await expect.poll(() => streamOf(client).writableNeedDrain, DEADLINE).toBe(true);
    await lock.query('SELECT pg_terminate_backend($1)', [pid]);
    await failed;
    lock.release(true);
  });

  it('waits with further rows while PostgreSQL takes none', async () => {
    const lock = await holdRows();
    let produced = 0;
    const copying = copyIn(
      client,
      TARGET,
      largeRows(100, () => produced++),
    );
    await expect.poll(() => streamOf(client).writableNeedDrain, DEADLINE).toBe(true);
    expect(produced).toBeLessThan(50);
    lock.release(true);
    await copying;
    expect(produced).toBe(100);
    expect(await idsOf()).toHaveLength(100);
  });

  /** Makes PostgreSQL wait at the first row until the returned connection is closed. */
  async function holdRows(): Promise<PoolClient> {
    const lock = await database.pool.connect();
    await lock.query('SELECT pg_advisory_lock(1)');
    await client.query(`
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
      CREATE TRIGGER wait BEFORE INSERT ON copied FOR EACH ROW EXECUTE FUNCTION wait()`);
    return lock;
  }
});

async function* pieces(...texts: readonly string[]): CopyText {
  for (const text of texts) yield await Promise.resolve(text);
}

/** Rows of a megabyte. */
async function* largeRows(count: number, onRow?: () => void): CopyText {
  for (let id = 1; id <= count; id++) {
    onRow?.();
    yield await Promise.resolve(`${id}`.padEnd(MEGABYTE) + '\n');
  }
}
