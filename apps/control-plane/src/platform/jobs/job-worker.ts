import type { FeedLogger } from '@weir/change-feed';
import { Queue, Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobConnections } from './job-connections.js';
import type { JobMetrics } from './job-metrics.js';
import type { Job } from './job.js';

export interface JobWorkerOptions {
  readonly connections: JobConnections;
  /** Prefix of the keys in Redis. */
  readonly prefix: string;
  readonly metrics: JobMetrics;
  readonly log: FeedLogger;
  /** Time after which the run of a dead replica may be repeated. */
  readonly lockMs?: number;
  /** Pause after an error of Redis. */
  readonly errorPauseMs?: number;
}

/** Ended runs and events that are kept for inspection. */
const KEPT_RUNS = 100;
const LOCK_MS = 15_000;
const ERROR_PAUSE_MS = 5_000;
/** Clocks of replicas may differ by so much. */
const CLOCK_TOLERANCE_MS = 30_000;
/** Longest time that a stop waits for the current run, which its signal tells to end. */
const STOP_MS = 5_000;

/** The queue of one job, which all replicas share, and the worker of this replica. */
export class JobWorker {
  private readonly queue: Queue;
  private readonly worker: Worker;
  private currentRun: Promise<void> = Promise.resolve();

  constructor(
    private readonly job: Job,
    private readonly options: JobWorkerOptions,
  ) {
    const { connections, prefix, lockMs = LOCK_MS } = options;
    const shared = { connection: connections.shared, prefix };
    this.queue = new Queue(job.name, { ...shared, streams: { events: { maxLen: KEPT_RUNS } } });
    const locks = { lockDuration: lockMs, stalledInterval: lockMs / 3 };
    // BullMQ passes a signal only to a function with three parameters.
    const run = async (_run: unknown, _token?: string, signal?: AbortSignal): Promise<void> => {
      this.currentRun = job.run(signal ?? AbortSignal.abort());
      await this.currentRun;
    };
    this.worker = new Worker(job.name, run, { ...shared, ...locks });
    this.listen();
  }

  /** Creates the schedule in Redis. An existing one is not disturbed, unless it is wrong. */
  async schedule(): Promise<void> {
    const { name, everyMs, attempts, firstRetryDelayMs } = this.job;
    if (await this.isPutOff()) {
      this.options.log.warn(
        { job: name },
        'a background job was put off for too long; it runs now',
      );
      await this.queue.removeJobScheduler(name);
    }
    const backoff = { type: 'exponential', delay: firstRetryDelayMs };
    const opts = { attempts, backoff, removeOnComplete: KEPT_RUNS, removeOnFail: KEPT_RUNS };
    await this.queue.setGlobalConcurrency(1);
    await this.queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
  }

  /** Waits for the current run to end, but only for a few seconds. */
  async stop(): Promise<void> {
    this.worker.cancelAllJobs('the control plane stops');
    const closed = this.worker.close();
    // Without Redis, the end of the run cannot be recorded. It will be repeated like a run of a dead replica.
    const ended = this.options.connections.isReady
      ? closed
      : this.currentRun.catch(() => undefined);
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
  }

  /** The next run is due by the clock of the replica that ran the last one, and that clock may have been ahead. */
  private async isPutOff(): Promise<boolean> {
    const { name, everyMs } = this.job;
    const next = (await this.queue.getJobScheduler(name))?.next ?? 0;
    return next - (await this.options.connections.nowMs()) > everyMs + CLOCK_TOLERANCE_MS;
  }

  private listen(): void {
    const { log, metrics } = this.options;
    this.worker.on('completed', ({ name }) => metrics.completed(name));
    this.worker.on('failed', (run, error) => {
      metrics.failed(this.job.name);
      const fields = { job: this.job.name, attempt: run?.attemptsMade, reason: String(error) };
      log.warn(fields, 'a background job failed');
    });
    this.worker.on('error', (error) => {
      this.pauseAfter(error);
    });
    // Both share a connection, so the worker reports the same error.
    this.queue.on('error', () => undefined);
  }

  /** Pauses the worker: when Redis rejects commands (read-only, out of memory), it would retry without a delay. */
  private pauseAfter(error: Error): void {
    // The shared connection logs an outage and waits for its end.
    if (!this.options.connections.isReady || this.worker.isPaused()) return;
    const fields = { job: this.job.name, reason: String(error) };
    this.options.log.warn(fields, 'the queue of a background job failed; it is paused for a while');
    void this.worker.pause(true);
    setTimeout(
      () => void this.worker.resume(),
      this.options.errorPauseMs ?? ERROR_PAUSE_MS,
    ).unref();
  }
}
