import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import { redisNames } from '@weir/change-feed';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobMetrics } from './job-metrics.js';
import { JobRunner } from './job-runner.js';
import type { Job } from './job.js';

const WAIT = { timeout: 20_000, interval: 20 };

/** A job that records its runs. */
function job(name: string, settings: Partial<Job> = {}) {
  const runs: number[] = [];
  const noted: Job = {
    name,
    everyMs: 100,
    attempts: 1,
    firstRetryDelayMs: 50,
    ...settings,
    run: async (signal) => {
      runs.push(performance.now());
      await settings.run?.(signal);
    },
  };
  return { runs, job: noted };
}

describe('JobRunner', () => {
  let redis: PrivateRedis;
  const runners: JobRunner[] = [];
  const logLines: string[] = [];
  const start = (jobs: Job[], { deploymentId = 'deployment', redisUrl = redis.url } = {}) => {
    const registry = new Registry();
    const metrics = new JobMetrics(registry, jobs);
    const log = pino({}, { write: (line: string) => void logLines.push(line) });
    const runner = new JobRunner({
      redisUrl,
      deploymentId,
      jobs,
      metrics,
      log,
      lockMs: 900,
      errorPauseMs: 200,
    });
    runners.push(runner);
    return { runner, registry };
  };

  beforeEach(async () => {
    logLines.length = 0;
    redis = await startPrivateRedis();
  });
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    await redis.stop();
  });

  it('runs a job once each time it is due, with any number of replicas', async () => {
    let running = 0;
    let most = 0;
    const counted = job('counted', {
      run: async () => {
        most = Math.max(most, ++running);
        // Longer than the interval of the job.
        await sleep(150);
        running--;
      },
    });
    const replicas = [start([counted.job]), start([counted.job]), start([counted.job])];
    await vi.waitFor(() => expect(counted.runs.length).toBeGreaterThanOrEqual(6), WAIT);
    await Promise.all(replicas.map(({ runner }) => runner.stop()));
    expect(most).toBe(1);
    const counts = await Promise.all(replicas.map(({ registry }) => completed(registry)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(counted.runs.length);
  });

  it('retries a run that throws with growing delays, and counts each attempt', async () => {
    const failing = job('failing', {
      everyMs: 3_600_000,
      attempts: 3,
      run: () => Promise.reject(new Error('not today')),
    });
    const { registry } = start([failing.job]);
    await vi.waitFor(async () => {
      expect(await registry.metrics()).toContain('{job="failing",result="failed"} 3');
    }, WAIT);
    await sleep(500);
    expect(failing.runs).toHaveLength(3);
    const [first, second, third] = failing.runs;
    expect(second - first).toBeGreaterThan(45);
    expect(third - second).toBeGreaterThan(90);
    expect(logLines.filter((line) => line.includes('not today'))).toHaveLength(3);
  });

  it('continues when Redis comes back empty, and logs the outage once', async () => {
    const steady = job('steady');
    start([steady.job]);
    await vi.waitFor(() => expect(steady.runs).not.toHaveLength(0), WAIT);
    await redis.stop();
    const before = steady.runs.length;
    await sleep(1_000);
    redis = await startPrivateRedis(redis.port);
    await vi.waitFor(() => expect(steady.runs.length).toBeGreaterThan(before + 2), WAIT);
    const outage = logLines.filter((line) => /Redis (closed|is out of reach)/.test(line));
    expect(outage, logLines.join('')).toHaveLength(1);
  });

  it('runs a job that a replica with a wrong clock has put off for an hour', async () => {
    const { jobs: prefix } = redisNames('deployment');
    const queue = new Queue('put-off', { connection: { url: redis.url }, prefix });
    const inAnHour = { every: 100, startDate: Date.now() + 3_600_000 };
    await queue.upsertJobScheduler('put-off', inAnHour, { name: 'put-off' });
    await queue.close();
    const later = job('put-off');
    start([later.job]);
    await vi.waitFor(() => expect(later.runs.length).toBeGreaterThan(1), WAIT);
    expect(logLines.join('')).toContain('a background job was put off for too long');
  });

  it('starts when Redis can be reached', async () => {
    const late = job('late');
    await redis.stop();
    start([late.job]);
    await sleep(300);
    redis = await startPrivateRedis(redis.port);
    await vi.waitFor(() => expect(late.runs.length).toBeGreaterThan(1), WAIT);
  });

  it('does not flood a Redis that rejects commands, and continues when it accepts them', async () => {
    const steady = job('steady');
    start([steady.job]);
    await vi.waitFor(() => expect(steady.runs).not.toHaveLength(0), WAIT);
    const admin = new Redis(redis.url);
    await admin.config('SET', 'maxmemory', '1');
    await vi.waitFor(() => expect(logLines.join('')).toContain('OOM'), WAIT);
    const before = logLines.length;
    await sleep(1_000);
    expect(logLines.length - before).toBeLessThan(20);
    await admin.config('SET', 'maxmemory', '0');
    const runs = steady.runs.length;
    await vi.waitFor(() => expect(steady.runs.length).toBeGreaterThan(runs + 3), WAIT);
    admin.disconnect();
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
    const { runner } = start([long.job]);
    await vi.waitFor(() => expect(long.runs).toHaveLength(1), WAIT);
    await runner.stop();
    expect(end.reached).toBe(true);
  });

  it('stops while Redis is out of reach', async () => {
    const { runner } = start([job('steady').job]);
    await redis.stop();
    const startedMs = performance.now();
    await runner.stop();
    expect(performance.now() - startedMs).toBeLessThan(4_000);
  });

  it('repeats a run on another replica when its replica dies', async () => {
    const stuck = job('handed-on', {
      everyMs: 3_600_000,
      run: (signal) => once(signal, 'abort').then(() => undefined),
    });
    const dying = start([stuck.job]);
    await vi.waitFor(() => expect(stuck.runs).toHaveLength(1), WAIT);
    // Like after a SIGKILL, its lock is not renewed.
    await dying.runner['workers'][0]['worker'].close(true);
    const healthy = job('handed-on', { everyMs: 3_600_000 });
    start([healthy.job]);
    await vi.waitFor(() => expect(healthy.runs).toHaveLength(1), WAIT);
  });

  it('does not touch the jobs of another deployment', async () => {
    const [ours, theirs] = [job('same-name'), job('same-name', { everyMs: 3_600_000 })];
    start([ours.job]);
    start([theirs.job], { deploymentId: 'another deployment' });
    await vi.waitFor(() => expect(theirs.runs).toHaveLength(1), WAIT);
    const before = ours.runs.length;
    await vi.waitFor(() => expect(ours.runs.length).toBeGreaterThan(before + 5), WAIT);
    expect(theirs.runs).toHaveLength(1);
  });

  it('runs other jobs during a long run', async () => {
    const long = job('long', {
      run: (signal) => once(signal, 'abort').then(() => undefined),
    });
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
