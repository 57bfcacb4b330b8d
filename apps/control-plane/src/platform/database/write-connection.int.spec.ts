import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { Database } from './database.js';
import type { Transaction } from './transaction.js';

describe('Database.write', () => {
  let url: string;
  let database: Database;
  const add = (tx: Transaction, id: number) =>
    tx.$executeRaw`INSERT INTO block_page VALUES (${id}, 0)`;
  const stored = async () =>
    (await database.pool.query<{ id: number }>('SELECT id FROM block_page')).rows;

  beforeAll(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    database = new Database(url, pino({ level: 'silent' }));
  });
  beforeEach(() => database.pool.query('TRUNCATE block_page CASCADE'));
  afterAll(async () => {
    await database.close();
    await dropDatabase(inject('databaseUrl'), url);
  });

  it('runs statements in the transaction of the connection', async () => {
    await database.write(async (client, tx) => {
      await client.query('BEGIN');
      await add(tx, 1);
      expect(await stored()).toEqual([]);
      expect((await client.query('SELECT id FROM block_page')).rows).toEqual([{ id: 1 }]);
      await client.query('COMMIT');
    });
    expect(await stored()).toEqual([{ id: 1 }]);
  });

  it('rolls back when the work throws, and serves the next work', async () => {
    const failing = database.write(async (client, tx) => {
      await client.query('BEGIN');
      await add(tx, 1);
      await add(tx, 1);
    });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    await database.write((_client, tx) => add(tx, 2));
    expect(await stored()).toEqual([{ id: 2 }]);
  });

  it('sends independent statements together, and commits none of them when one fails', async () => {
    const failing = database.write((client) =>
      Promise.all([
        client.query('BEGIN'),
        client.query('INSERT INTO block_page VALUES (1, 0)'),
        client.query('INSERT INTO block_page VALUES (2, 99)'),
        client.query('COMMIT'),
      ]),
    );
    await expect(failing).rejects.toThrow('block_page_type');
    expect(await stored()).toEqual([]);
  });

  it('prepares its statements again after a migration or a pooler has invalidated them', async () => {
    const find = () => database.write((_client, tx) => tx.$queryRaw`SELECT * FROM block_page`);
    await find();
    for (const text of [
      'ALTER TABLE block_page ALTER COLUMN type TYPE integer',
      'DEALLOCATE ALL',
    ]) {
      await database.write((client) => client.query(text));
      await expect(find()).rejects.toThrow(/cached plan|does not exist/);
      expect(await find()).toEqual([]);
    }
  });

  it('takes a new connection after one that may not write', async () => {
    await database.write((client) => client.query('SET default_transaction_read_only = on'));
    const write = () => database.write((_client, tx) => add(tx, 1));
    await expect(write()).rejects.toMatchObject({ code: '25006' });
    await write();
    expect(await stored()).toEqual([{ id: 1 }]);
  });
});
