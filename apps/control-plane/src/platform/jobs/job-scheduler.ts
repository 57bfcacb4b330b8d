import type { FeedLogger } from '@weir/change-feed';
import type { Pool, PoolClient } from 'pg';
import { Counter, type Registry } from 'prom-client';
import { withConnection } from '../database/transaction.js';
import { withTimeout } from '../database/with-timeout.js';
import { JobQueue, type JobQueueOptions } from './job-queue.js';

/** A background job. It runs on one replica at a time. */
export interface Job {
  /** Unique name. Letters, digits and hyphens. */
  readonly name: string;
  /** Time between two starts. The next run waits for a run that takes longer. */
  readonly everyMs: number;
  /** Whether the replicas share its runs through the queue in Redis. */
  readonly isQueued?: boolean;
  /**
   * Must be idempotent: a run is repeated when its replica dies.
   * @param signal aborted when the process stops, or has lost the lock of the job.
   */
  run(signal: AbortSignal): Promise<void>;
}

export interface JobSchedulerOptions {
  /** Has a connection for each job. */
  readonly pool: Pool;
  readonly jobs: readonly Job[];
  readonly registry: Registry;
  readonly log: FeedLogger;
  readonly queue: Omit<JobQueueOptions, 'log'>;
  /** Longest time that a job that is due stays in the queue. Then its run needs no queue. */
  readonly queuedMs?: number;
}

interface JobState {
  readonly name: string;
  readonly lastStart: string;
  /** By the clock of the database. */
  readonly sinceStartMs: number;
  /** Runs since the last that succeeded, the current one included. */
  readonly failures: number;
}

/** First half of the key of each lock, the second one is the hash of the name. */
const LOCK_CLASS = 10;
const TRY_LOCK = `SELECT pg_try_advisory_lock(${LOCK_CLASS}, hashtext($1)) AS locked`;
const UNLOCK = `SELECT pg_advisory_unlock(${LOCK_CLASS}, hashtext($1))`;
const READ_STATES = `
  SELECT name, failures, last_started_at::text AS "lastStart",
         (extract(epoch FROM clock_timestamp() - last_started_at) * 1000)::float8 AS "sinceStartMs"
  FROM job_run WHERE name = ANY ($1::text[])`;
/** Until it succeeds, a run counts as failed: its replica may die. */
const START = `
  INSERT INTO job_run (name, last_started_at, failures) VALUES ($1, clock_timestamp(), 1)
  ON CONFLICT (name) DO UPDATE SET last_started_at = clock_timestamp(), failures = job_run.failures + 1`;
const SUCCEED = 'UPDATE job_run SET failures = 0 WHERE name = $1';

/** Time between two looks at what is due. */
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const QUEUED_MS = 15_000;
/** Longest time that a stop waits for the current runs, which their signal tells to end. */
const STOP_MS = 5_000;

/**
 * Runs jobs when they are due. PostgreSQL has the time of the last run of each, and an advisory lock says who runs it.
 * Those that are queued go through Redis when it takes them, so that any replica runs them.
 */
export class JobScheduler {
  private readonly stopping = new AbortController();
  private readonly running = new Map<string, Promise<void>>();
  /** The jobs that were added to the queue when they were due: their last start then, and when that was. */
  private readonly queued = new Map<string, { lastStart: string; atMs: number }>();
  private queue: JobQueue | null = null;
  private timer: NodeJS.Timeout | undefined;
  private loggedProblem = '';

  /** Runs on this replica by their result. */
  private readonly runs: Counter<'name' | 'result'>;

  constructor(private readonly options: JobSchedulerOptions) {
    this.runs = new Counter({
      name: 'weir_job_runs_total',
      help: 'Runs of background jobs on this replica; each attempt counts',
      labelNames: ['name', 'result'],
      registers: [options.registry],
    });
    // Initialised to 0, so that an alert can distinguish a job that never ran from an unknown job.
    for (const { name } of options.jobs) {
      for (const result of ['completed', 'failed']) this.runs.inc({ name, result }, 0);
    }
  }

  /** From now on, jobs run when they are due and PostgreSQL can be reached. */
  start(): void {
    const { jobs, queue, log } = this.options;
    this.queue = new JobQueue({ ...queue, log }, async (name) => {
      const job = jobs.find((one) => one.isQueued && one.name === name);
      if (job !== undefined) await this.run(job);
    });
    this.timer = setTimeout(() => void this.look());
  }

  /** Waits for the current runs to end, but only for a few seconds. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.stopping.abort(new Error('the control plane stops'));
    const ended = Promise.all([this.queue?.close(), ...this.running.values()]);
    await withTimeout<unknown>(ended, null, STOP_MS);
  }

  /** Begins what is due, and looks again when more may be. */
  private async look(): Promise<void> {
    let pauseMs = LONGEST_PAUSE_MS;
    try {
      const states = await readStates(this.options.pool, this.options.jobs);
      for (const job of this.options.jobs) {
        const state = states.get(job.name);
        const leftMs = leftUntilDue(job, state);
        pauseMs = Math.min(pauseMs, leftMs > 0 ? leftMs : job.everyMs);
        if (leftMs <= 0) void this.begin(job, state);
      }
      this.loggedProblem = '';
    } catch (error) {
      this.logProblem(error);
    }
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => void this.look(), Math.max(pauseMs, SHORTEST_PAUSE_MS));
  }

  private async begin(job: Job, state: JobState | undefined): Promise<void> {
    if (this.running.has(job.name)) return;
    if (job.isQueued) {
      const { queuedMs = QUEUED_MS } = this.options;
      const [lastStart, nowMs] = [state?.lastStart ?? '', performance.now()];
      const queued = this.queued.get(job.name);
      if (queued?.lastStart !== lastStart) {
        this.queued.set(job.name, { lastStart, atMs: nowMs });
        if (await this.queue?.add(job.name)) return;
      } else if (nowMs - queued.atMs < queuedMs) return;
    }
    await this.run(job);
  }

  /** Runs the job, unless it runs already, here or on another replica, or has run just before. It never rejects. */
  private async run(job: Job): Promise<void> {
    if (this.running.has(job.name) || this.stopping.signal.aborted) return;
    const locked = withConnection(this.options.pool, (client) => this.runLocked(client, job));
    const run = locked.catch((error: unknown) => this.logProblem(error));
    this.running.set(job.name, run);
    await run;
    this.running.delete(job.name);
  }

  private async runLocked(client: PoolClient, job: Job): Promise<void> {
    const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK, [job.name]);
    if (!rows[0]?.locked) return;
    try {
      const state = (await readStates(client, [job])).get(job.name);
      // Anybody who reaches Redis can add jobs to the queue.
      if (state && leftUntilDue(job, state) > delayAfter(job, state) / 2) return;
      await client.query(START, [job.name]);
      if (await this.attempt(client, job, state)) await client.query(SUCCEED, [job.name]);
    } finally {
      await client.query(UNLOCK, [job.name]);
    }
  }

  /** @returns whether it succeeded. */
  private async attempt(
    client: PoolClient,
    job: Job,
    state: JobState | undefined,
  ): Promise<boolean> {
    const lost = new AbortController();
    const lose = (): void => lost.abort(new Error('the connection with the lock was lost'));
    client.once('end', lose);
    try {
      await job.run(AbortSignal.any([this.stopping.signal, lost.signal]));
      this.runs.inc({ name: job.name, result: 'completed' });
      return true;
    } catch (error) {
      if (this.stopping.signal.aborted) return false;
      this.runs.inc({ name: job.name, result: 'failed' });
      const attempt = (state?.failures ?? 0) + 1;
      const fields = { job: job.name, attempt, reason: String(error) };
      this.options.log.warn(fields, 'a background job failed');
      return false;
    } finally {
      client.off('end', lose);
    }
  }

  /** While PostgreSQL is out of reach, the problem is logged once. */
  private logProblem(error: unknown): void {
    const reason = String(error);
    if (reason === this.loggedProblem || this.stopping.signal.aborted) return;
    this.loggedProblem = reason;
    this.options.log.warn({ reason }, 'background jobs wait for the database');
  }
}

async function readStates(
  database: Pool | PoolClient,
  jobs: readonly Job[],
): Promise<ReadonlyMap<string, JobState>> {
  const names = jobs.map(({ name }) => name);
  const { rows } = await database.query<JobState>(READ_STATES, [names]);
  return new Map(rows.map((state) => [state.name, state]));
}

const FIRST_RETRY_MS = 1_000;

/** Time from the last start to the next one. After a run that has failed it doubles each time. */
function delayAfter({ everyMs }: Job, { failures }: Pick<JobState, 'failures'>): number {
  return failures === 0 ? everyMs : Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), everyMs);
}

/** 0 or less: it is due. A start in the future was before the clock of the database was set back. */
function leftUntilDue(job: Job, state?: JobState): number {
  if (state === undefined || state.sinceStartMs < 0) return 0;
  return delayAfter(job, state) - state.sinceStartMs;
}
