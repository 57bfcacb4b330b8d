import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { PrismaClient } from '../../generated/prisma/client.js';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { Database } from './database.js';

describe('WriteConnection', () => {
  let url: string;
  let database: Database;
  const page = (id: number) => ({ data: { id, type: 0 } });
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

  it('runs Prisma in the transaction of the connection', async () => {
    await database.writes.use(async (client, tx) => {
      await client.query('BEGIN');
      await tx.blockPage.create(page(1));
      expect(await stored()).toEqual([]);
      expect((await client.query('SELECT id FROM block_page')).rows).toEqual([{ id: 1 }]);
      await client.query('COMMIT');
    });
    expect(await stored()).toEqual([{ id: 1 }]);
  });

  it('rolls back when the work throws, and serves the next work', async () => {
    const failing = database.writes.use(async (client, tx) => {
      await client.query('BEGIN');
      await tx.blockPage.create(page(1));
      await tx.blockPage.create(page(1));
    });
    await expect(failing).rejects.toMatchObject({ code: 'P2002' });
    await database.writes.use((_client, tx) => tx.blockPage.create(page(2)));
    expect(await stored()).toEqual([{ id: 2 }]);
  });

  it('sends independent statements together, and commits none of them when one fails', async () => {
    const failing = database.writes.use((client) =>
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

  it('rejects Prisma outside of a change, and a nested transaction', async () => {
    const kept = await database.writes.use((_client, tx) => Promise.resolve({ tx }));
    await expect(kept.tx.blockPage.create(page(1))).rejects.toThrow('outside of a change');
    const nested = database.writes.use((_client, tx) =>
      (tx as PrismaClient).$transaction((inner) => inner.blockPage.create(page(1))),
    );
    await expect(nested).rejects.toThrow('has already begun');
    expect(await stored()).toEqual([]);
  });

  it('prepares its statements again after a migration or a pooler has invalidated them', async () => {
    const find = () => database.writes.use((_client, tx) => tx.blockPage.findMany());
    await find();
    for (const text of [
      'ALTER TABLE block_page ALTER COLUMN type TYPE integer',
      'DEALLOCATE ALL',
    ]) {
      await database.writes.use((client) => client.query(text));
      await expect(find()).rejects.toThrow(/cached plan|does not exist/);
      expect(await find()).toEqual([]);
    }
  });
});
