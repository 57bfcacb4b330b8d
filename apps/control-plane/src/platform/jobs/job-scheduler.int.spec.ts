import { redisNames } from '@weir/change-feed';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  vi,
} from 'vitest';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { openPool } from '../../testing/open-pool.js';
import { type Job, JobScheduler } from './job-scheduler.js';

const WAIT = { timeout: 60_000, interval: 20 };
const HOUR_MS = 3_600_000;
const DEPLOYMENT = 'deployment';

/** A job that records its runs. */
function job(name: string, settings: Partial<Job> = {}) {
  const runs: number[] = [];
  const noted: Job = {
    name,
    everyMs: 100,
    ...settings,
    run: async (signal) => {
      runs.push(performance.now());
      await settings.run?.(signal);
    },
  };
  return { runs, job: noted };
}

const untilAborted = (signal: AbortSignal) => once(signal, 'abort').then(() => undefined);

describe('JobScheduler', () => {
  let url: string;
  let admin: pg.Client;
  let redis: PrivateRedis;
  const replicas: { scheduler: JobScheduler; pool: pg.Pool }[] = [];
  const logLines: string[] = [];
  const start = (jobs: Job[], { databaseUrl = url, queuedMs = 60_000 } = {}) => {
    const registry = new Registry();
    const pool = openPool({ connectionString: databaseUrl, max: 5 });
    pool.on('connect', (client) => client.on('error', () => undefined));
    const scheduler = new JobScheduler({
      pool,
      jobs,
      registry,
      log: pino({}, { write: (line: string) => void logLines.push(line) }),
      queue: { redisUrl: redis.url, deploymentId: DEPLOYMENT },
      queuedMs,
    });
    scheduler.start();
    replicas.push({ scheduler, pool });
    return { scheduler, registry, pool };
  };
  const openQueue = () => {
    const { jobs: prefix } = redisNames(DEPLOYMENT);
    return new Queue('lists', { connection: { url: redis.url }, prefix });
  };

  beforeAll(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    admin = new pg.Client(url);
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await dropDatabase(inject('databaseUrl'), url);
  });
  beforeEach(async () => {
    logLines.length = 0;
    await admin.query('TRUNCATE job_run');
    redis = await startPrivateRedis();
  });
  afterEach(async () => {
    await Promise.all(replicas.map(({ scheduler }) => scheduler.stop()));
    for (const { pool } of replicas.splice(0)) if (!pool.ending) await pool.end();
    await redis.stop();
  });

  it.each([false, true])(
    'runs a job once each time it is due, with any number of replicas (queued: %s)',
    async (isQueued) => {
      let running = 0;
      let most = 0;
      const counted = job('counted', {
        isQueued,
        run: async () => {
          most = Math.max(most, ++running);
          // Longer than the interval of the job.
          await sleep(150);
          running--;
        },
      });
      // A job that is added to the queue while it ends there is not added: then it is run without the queue.
      const all = Array.from({ length: 3 }, () => start([counted.job], { queuedMs: 1_000 }));
      await vi.waitFor(() => expect(counted.runs.length).toBeGreaterThanOrEqual(6), WAIT);
      await Promise.all(all.map(({ scheduler }) => scheduler.stop()));
      expect(most).toBe(1);
      const counts = await Promise.all(all.map(({ registry }) => completed(registry)));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(counted.runs.length);
    },
  );

  it('does not run a job again when its process starts again within the interval', async () => {
    const daily = job('daily', { everyMs: HOUR_MS });
    const { scheduler } = start([daily.job]);
    await vi.waitFor(() => expect(daily.runs).toHaveLength(1), WAIT);
    await scheduler.stop();
    const steady = job('steady');
    start([daily.job, steady.job]);
    await vi.waitFor(() => expect(steady.runs.length).toBeGreaterThan(2), WAIT);
    expect(daily.runs).toHaveLength(1);
  });

  it('retries a run that throws with growing delays, and counts each attempt', async () => {
    /** By the clock of the database, which says when a job is due. */
    const starts: number[] = [];
    const failing = job('failing', {
      everyMs: HOUR_MS,
      run: async () => {
        const { rows } = await admin.query<{ ms: number }>(
          'SELECT (extract(epoch FROM last_started_at) * 1000)::float8 AS ms FROM job_run',
        );
        starts.push(...rows.map(({ ms }) => ms));
        throw new Error('not today');
      },
    });
    const { registry } = start([failing.job]);
    await vi.waitFor(async () => {
      expect(await registry.metrics()).toContain('{name="failing",result="failed"} 3');
    }, WAIT);
    await sleep(1_000);
    expect(failing.runs).toHaveLength(3);
    const [first, second, third] = starts;
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    expect(third - second).toBeGreaterThanOrEqual(2_000);
    expect(logLines.filter((line) => line.includes('not today'))).toHaveLength(3);
  });

  it.each([false, true])('goes on without Redis (queued: %s)', async (isQueued) => {
    // While it runs, nothing waits in the queue, which would be lost with Redis.
    const steady = job('steady', { isQueued, run: () => redis.stop() });
    start([steady.job]);
    await vi.waitFor(() => expect(steady.runs.length).toBeGreaterThan(4), WAIT);
  });

  it('starts without Redis', async () => {
    await redis.stop();
    const queued = job('queued', { isQueued: true, everyMs: HOUR_MS });
    start([queued.job]);
    await vi.waitFor(() => expect(queued.runs).toHaveLength(1), WAIT);
  });

  it('runs a queued job without the queue when the queue does not give it back', async () => {
    const queue = openQueue();
    await queue.pause();
    const queued = job('queued', { isQueued: true });
    start([queued.job], { queuedMs: 500 });
    await vi.waitFor(() => expect(queued.runs.length).toBeGreaterThan(2), WAIT);
    await queue.close();
  });

  it('skips jobs that others have put into the queue, and takes few of them', async () => {
    const hourly = job('hourly', { isQueued: true, everyMs: HOUR_MS });
    const unqueued = job('unqueued', { everyMs: HOUR_MS });
    start([hourly.job, unqueued.job]);
    await vi.waitFor(
      () => expect([hourly.runs.length, unqueued.runs.length]).toEqual([1, 1]),
      WAIT,
    );
    const queue = openQueue();
    const names = ['hourly', 'unqueued', 'constructor'];
    const addedMs = performance.now();
    await queue.addBulk(
      Array.from({ length: 300 }, (_, i) => ({ name: names[i % 3], data: null })),
    );
    const left = () => queue.getJobCountByTypes('waiting', 'prioritized', 'delayed', 'active');
    // It takes four in a second.
    await vi.waitFor(async () => expect(await left()).toBeLessThan(300), WAIT);
    await sleep(2_000);
    const taken = 300 - (await left());
    expect(taken).toBeLessThan(20 + (5 * (performance.now() - addedMs)) / 1_000);
    await queue.close();
    expect([hourly.runs.length, unqueued.runs.length]).toEqual([1, 1]);
  });

  it('goes on after a Redis that rejects commands', async () => {
    const client = new Redis(redis.url);
    // While it runs, nothing waits in the queue, which nobody could take out then.
    const reject = async () => void (await client.config('SET', 'maxmemory', '1'));
    const steady = job('steady', { isQueued: true, run: reject });
    start([steady.job]);
    await vi.waitFor(() => expect(steady.runs.length).toBeGreaterThan(4), WAIT);
    expect(logLines.length).toBeLessThan(20);
    client.disconnect();
  });

  it('aborts the current run at a stop, and waits for its end', async () => {
    const end = { reached: false };
    const long = job('long', {
      run: async (signal) => {
        await sleep(60_000, undefined, { signal }).catch(() => undefined);
        await sleep(50);
        end.reached = true;
      },
    });
    const { scheduler } = start([long.job]);
    await vi.waitFor(() => expect(long.runs).toHaveLength(1), WAIT);
    await scheduler.stop();
    expect(end.reached).toBe(true);
  });

  it('stops while Redis is out of reach', async () => {
    const { scheduler } = start([job('steady', { isQueued: true }).job]);
    await redis.stop();
    await scheduler.stop();
  });

  it('aborts a run that has lost its lock, and another replica repeats it', async () => {
    const settings = { everyMs: HOUR_MS };
    const ends: unknown[] = [];
    const stuck = job('handed-on', {
      ...settings,
      run: (signal) =>
        untilAborted(signal)
          .then(() => ends.push(signal.reason))
          .then(() => undefined),
    });
    const dying = start([stuck.job]);
    await vi.waitFor(() => expect(stuck.runs).toHaveLength(1), WAIT);
    const healthy = job('handed-on', settings);
    start([healthy.job]);
    await sleep(300);
    expect(healthy.runs).toHaveLength(0);
    // It begins nothing any more.
    const ended = dying.pool.end();
    await admin.query(`
      SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE datname = current_database() AND locktype = 'advisory' AND granted`);
    await vi.waitFor(() => expect([healthy.runs.length, ends.length]).toEqual([1, 1]), WAIT);
    expect(String(ends[0])).toContain('lost');
    await ended;
  });

  it('begins when PostgreSQL can be reached, and logs the wait once', async () => {
    const missing = new URL(url);
    missing.pathname = '/weir_not_yet';
    const late = job('late');
    start([late.job], { databaseUrl: missing.href });
    const waits = () => logLines.filter((line) => line.includes('wait for the database'));
    await vi.waitFor(() => expect(waits()).not.toHaveLength(0), WAIT);
    await sleep(500);
    expect(waits()).toHaveLength(1);
    await admin.query(`CREATE DATABASE weir_not_yet TEMPLATE template0`);
    const there = new pg.Client(missing.href);
    await there.connect();
    await there.query(
      'CREATE TABLE job_run (name text PRIMARY KEY, last_started_at timestamptz, failures integer)',
    );
    await vi.waitFor(() => expect(late.runs.length).toBeGreaterThan(1), WAIT);
    await there.end();
    const [{ scheduler, pool }] = replicas.splice(0);
    await scheduler.stop();
    await pool.end();
    await admin.query('DROP DATABASE weir_not_yet WITH (FORCE)');
  });

  it('runs other jobs during a long run', async () => {
    const long = job('long', { run: untilAborted });
    const short = job('short');
    start([long.job, short.job]);
    await vi.waitFor(() => expect(long.runs).toHaveLength(1), WAIT);
    const before = short.runs.length;
    await vi.waitFor(() => expect(short.runs.length).toBeGreaterThan(before + 5), WAIT);
    expect(long.runs).toHaveLength(1);
  });
});

/** Number of runs that this replica completed. */
async function completed(registry: Registry): Promise<number> {
  return Number(/result="completed"} (\d+)/.exec(await registry.metrics())?.[1]);
}
