import type { FeedLogger } from '@weir/change-feed';
import { Queue, Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from './job.js';
import type { JobConnections } from './job-connections.js';
import type { JobMetrics } from './job-metrics.js';

export interface JobWorkerOptions {
  readonly connections: JobConnections;
  /** What the keys of the queue begin with. */
  readonly prefix: string;
  readonly metrics: JobMetrics;
  readonly log: FeedLogger;
  /** Time after which the run of a replica that died may be begun again. */
  readonly lockMs?: number;
  /** Pause after Redis refused. */
  readonly restMs?: number;
}

/** Ended runs, and events, that are kept to look at. */
const KEPT = 100;
const LOCK_MS = 15_000;
const REST_MS = 5_000;
/** Longest that a stop waits for the run under way, which hears of it by its signal. */
const STOP_MS = 5_000;

/** One job: its queue, which all replicas share, and this replica's worker at it. */
export class JobWorker {
  private readonly queue: Queue;
  private readonly worker: Worker;
  private underWay: Promise<void> = Promise.resolve();

  constructor(
    private readonly job: Job,
    private readonly options: JobWorkerOptions,
  ) {
    const { connections, prefix, lockMs = LOCK_MS } = options;
    const shared = { connection: connections.shared, prefix };
    this.queue = new Queue(job.name, { ...shared, streams: { events: { maxLen: KEPT } } });
    const locks = { lockDuration: lockMs, stalledInterval: lockMs / 3 };
    // Three parameters: BullMQ gives a signal only to a function that declares it.
    const run = async (_run: unknown, _token?: string, signal?: AbortSignal): Promise<void> => {
      this.underWay = job.run(signal ?? AbortSignal.abort());
      await this.underWay;
    };
    this.worker = new Worker(job.name, run, { ...shared, ...locks });
    this.listen();
  }

  /** Makes sure that the schedule stands in Redis; one that stands goes on undisturbed. */
  async schedule(): Promise<void> {
    const { name, everyMs, attempts, firstRetryDelayMs } = this.job;
    const backoff = { type: 'exponential', delay: firstRetryDelayMs };
    const opts = { attempts, backoff, removeOnComplete: KEPT, removeOnFail: KEPT };
    await this.queue.setGlobalConcurrency(1);
    await this.queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
  }

  /** Lets the run under way end, for a few seconds at most. */
  async stop(): Promise<void> {
    this.worker.cancelAllJobs('the control plane stops');
    const closed = this.worker.close();
    // Without Redis nobody can be told how the run ended; it counts as one of a replica that died.
    const ended = this.options.connections.isReady ? closed : this.underWay.catch(() => undefined);
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
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
      this.rest(error);
    });
    // Of the connection that both share: the worker hears it too.
    this.queue.on('error', () => undefined);
  }

  /** A worker that Redis refuses (read-only, out of memory) would ask again at once, for ever. */
  private rest(error: Error): void {
    // An outage is said once, by the connection, and waited out there.
    if (!this.options.connections.isReady || this.worker.isPaused()) return;
    const fields = { job: this.job.name, reason: String(error) };
    this.options.log.warn(fields, 'the queue of a background job failed; it rests for a while');
    void this.worker.pause(true);
    setTimeout(() => void this.worker.resume(), this.options.restMs ?? REST_MS).unref();
  }
}
