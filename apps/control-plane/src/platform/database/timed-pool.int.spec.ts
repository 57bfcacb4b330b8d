import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, expect, inject, it } from 'vitest';
import { Database } from './database.js';

const HELD_MS = 50;

const database = new Database(inject('databaseUrl'), pino({ level: 'silent' }));
afterAll(() => database.close());

/** What the metric says about a pool. */
async function waitsOf(pool: string): Promise<{ count: number; seconds: number }> {
  const { values } = await database.waits.get();
  const valueOf = (suffix: string): number =>
    values.find(
      ({ metricName, labels }) => metricName?.endsWith(suffix) === true && labels.pool === pool,
    )?.value ?? 0;
  return { count: valueOf('_count'), seconds: valueOf('_sum') };
}

it('counts how long requests wait for a connection, by pool', async () => {
  const held = Promise.withResolvers<null>();
  const first = database.write(() => held.promise);
  const second = database.write(() => Promise.resolve(null));
  await expect.poll(async () => (await waitsOf('changes')).count).toBe(1);
  const before = await waitsOf('changes');
  expect(database.connections('waitingCount')).toBe(1);
  await sleep(HELD_MS);
  held.resolve(null);
  await Promise.all([first, second]);
  const after = await waitsOf('changes');
  expect(after.count).toBe(2);
  // Timers may fire a millisecond early.
  expect(after.seconds - before.seconds).toBeGreaterThan((HELD_MS - 5) / 1000);
});

it('counts queries of a pool and of Prisma, which wait in it too', async () => {
  await database.pool.query('SELECT 1');
  const { count } = await waitsOf('general');
  expect(count).toBeGreaterThan(0);
  await database.prisma.$queryRaw`SELECT 1`;
  expect((await waitsOf('general')).count).toBeGreaterThan(count);
  expect((await waitsOf('snapshots')).count).toBe(0);
});
