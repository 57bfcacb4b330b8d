import type { PoolClient } from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { copyOut, FixedColumns } from './copy.js';
import { Database } from './database.js';

/** An integer and a bigint. */
const COLUMNS = new FixedColumns([4, 8]);

describe('copyOut', () => {
  let database: Database;
  let client: PoolClient;

  beforeAll(() => {
    database = new Database(inject('databaseUrl'), pino({ level: 'silent' }));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    client = await database.pool.connect();
    await client.query('BEGIN');
  });
  afterEach(() => {
    client.release(true);
  });

  const [first, second] = COLUMNS.offsets as [number, number];
  const read = async (query: string): Promise<[number, bigint][]> => {
    const rows: [number, bigint][] = [];
    await copyOut(client, query, COLUMNS, (bytes, at) => {
      rows.push([bytes.readInt32BE(at + first), bytes.readBigInt64BE(at + second)]);
    });
    return rows;
  };
  const isUsable = async (): Promise<void> => {
    await client.query('ROLLBACK');
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  };

  it.each([0, 1, 100_000])('reads each of %d rows, wherever they are cut', async (count) => {
    const query = `SELECT i, -i::bigint * 4294967296 FROM generate_series(1, ${count}) AS i`;
    const rows = await read(query);
    expect(rows).toHaveLength(count);
    expect(rows.every(([i, value], at) => i === at + 1 && value === BigInt(-i) << 32n)).toBe(true);
    // The connection can be used for what follows.
    expect(await read('SELECT 7, 8::bigint')).toEqual([[7, 8n]]);
  });

  it('throws the error of PostgreSQL about a later row, and the transaction can be rolled back', async () => {
    const query = 'SELECT 1000 / (90000 - i), i::bigint FROM generate_series(1, 100000) AS i';
    await expect(read(query)).rejects.toMatchObject({ code: '22012' });
    await isUsable();
  });

  it('throws the error of PostgreSQL about the query', async () => {
    await expect(read('SELECT FROM missing')).rejects.toMatchObject({ code: '42P01' });
    await isUsable();
  });

  it('throws the error of the visitor, and the transaction can be rolled back', async () => {
    const failure = new Error('a bug');
    const copying = copyOut(
      client,
      'SELECT i, i::bigint FROM generate_series(1, 100000) AS i',
      COLUMNS,
      () => {
        throw failure;
      },
    );
    await expect(copying).rejects.toBe(failure);
    await isUsable();
  });

  it.each(['SELECT 1, 2', 'SELECT 1, NULL::bigint', 'SELECT 1, 2::bigint, 3'])(
    'refuses other columns: %s',
    async (query) => {
      await expect(read(query)).rejects.toThrow('other columns');
      await isUsable();
    },
  );

  it('fails when the connection is lost', async () => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const copying = read('SELECT i, i::bigint FROM generate_series(1, 100000000) AS i');
    const failed = expect(copying).rejects.toThrow();
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await failed;
  });
});
