import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Database } from '../platform/database/database.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { ConfigurationReader } from './configuration-reader.js';

const WAIT = { timeout: 60_000 };

let url: string;
let database: Database;

beforeAll(async () => {
  url = await createFreshDatabase(inject('databaseUrl'));
  database = new Database(url, pino({ level: 'silent' }));
});
afterAll(async () => {
  await database.close();
  await dropDatabase(inject('databaseUrl'), url);
});

/** A listing with a client that reads its beginning only. */
const openSlow = async (reader: ConfigurationReader) => {
  const sql = 'SELECT i FROM generate_series(1, 100000) AS i';
  const { result } = await reader.list(sql, (row: { i: number }) => row.i);
  const slow = { listing: result, isBrokenOff: false };
  result.breakOff = () => {
    slow.isBrokenOff = true;
    void result.close();
  };
  await result.json().next();
  return slow;
};

it('a listing is broken off when its client reads too slowly for its size', async () => {
  const reader = new ConfigurationReader(database, 100);
  const slow = await openSlow(reader);
  await expect.poll(() => slow.isBrokenOff, WAIT).toBe(true);
  await expect.poll(() => database.listings.idleCount, WAIT).toBe(1);
});

it('slow clients give way as soon as another listing needs a connection, and not before', async () => {
  const reader = new ConfigurationReader(database);
  const { max: connections } = database.listings.options;
  const slow = await Promise.all(Array.from({ length: connections }, () => openSlow(reader)));
  expect(slow.filter(({ isBrokenOff }) => isBrokenOff)).toEqual([]);
  const others = await Promise.all([openSlow(reader), openSlow(reader)]);
  expect(slow.filter(({ isBrokenOff }) => isBrokenOff)).toHaveLength(2);
  await Promise.all([...slow, ...others].map(({ listing }) => listing.close()));
});

it('a client that reads on is not broken off', async () => {
  const reader = new ConfigurationReader(database, 0);
  const sql = 'SELECT i FROM generate_series(1, 1000000) AS i';
  const { result } = await reader.list(sql, (row: { i: number }) => row.i);
  let text = '';
  for await (const chunk of result.json()) text += chunk;
  expect(JSON.parse(text)).toHaveLength(1_000_000);
});
