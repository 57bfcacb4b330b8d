import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Prisma } from '../generated/prisma/client.js';
import { Database } from '../platform/database/database.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { ConfigurationReader } from './configuration-reader.js';

/** A key of the advisory locks of PostgreSQL that nothing else uses. */
const KEY = 4_711;
const PAGES = Prisma.sql`SELECT id FROM block_page`;

let url: string;
let database: Database;
let reader: ConfigurationReader;

const ids = (rows: { readonly id: number }[]): number[] => rows.map(({ id }) => id);

beforeAll(async () => {
  url = await createFreshDatabase(inject('databaseUrl'));
  database = new Database(url, pino({ level: 'silent' }));
  reader = new ConfigurationReader(database);
});
afterAll(async () => {
  await database.close();
  await dropDatabase(inject('databaseUrl'), url);
});

it('a read has the revision of its rows, whatever is committed meanwhile', async () => {
  const gate = await database.pool.connect();
  await gate.query('SELECT pg_advisory_lock($1)', [KEY]);
  // The order of the columns holds it up before the rows are read.
  const read = reader.read(
    Prisma.sql`
      SELECT pg_advisory_xact_lock_shared(${KEY})::text, (SELECT count(*)::integer FROM block_page) AS pages`,
    ([row]: { pages: number }[]) => row.pages,
  );
  const waiting = `
    SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`;
  await expect.poll(async () => (await gate.query(waiting)).rowCount).toBe(1);
  await gate.query(
    'INSERT INTO block_page (id, type) VALUES (1, 0); UPDATE config_head SET revision = 1',
  );
  await gate.query('SELECT pg_advisory_unlock($1)', [KEY]);
  expect(await read).toMatchObject({ result: 0, revision: 0 });
  gate.release();
  expect(await reader.read(PAGES, ids)).toMatchObject({ result: [1], revision: 1 });
});

it('a read that finds nothing has a revision, too', async () => {
  const found = await reader.read(Prisma.sql`${PAGES} WHERE id = 2`, ids);
  expect(found).toMatchObject({ result: [], revision: 1 });
});

it('rows have the columns of their query only', async () => {
  const found = await reader.read(PAGES, (rows) => rows);
  expect(found.result).toEqual([{ id: 1 }]);
});

it('a row may have null in each column', async () => {
  const found = await reader.read(
    Prisma.sql`SELECT NULL::integer AS id FROM block_page`,
    (rows: { id: null }[]) => rows.map(({ id }) => id),
  );
  expect(found.result).toEqual([null]);
});

it('a read says so when the head has been lost', async () => {
  await database.pool.query('DELETE FROM config_head');
  await expect(reader.read(PAGES, ids)).rejects.toThrow('config_head has lost its row');
});
