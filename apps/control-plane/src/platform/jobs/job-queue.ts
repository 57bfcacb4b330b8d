import { type FeedLogger, redisNames } from '@weir/change-feed';
import { Queue, Worker } from 'bullmq';
import { withTimeout } from '../database/with-timeout.js';

export interface JobQueueOptions {
  readonly redisUrl: string;
  /** Separates the queue of this deployment from others on the same Redis. */
  readonly deploymentId: string;
  readonly log: FeedLogger;
}

const NAME = 'lists';
/** Redis is not asked for longer. */
const ADD_TIMEOUT_MS = 1_000;
/** After an error of Redis (read-only, out of memory), BullMQ would try again without a delay. */
const ERROR_PAUSE_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
const MAX_RETRY_DELAY_MS = 1_000;
/** Whoever reaches Redis may add jobs: all replicas together take no more of them. */
const LIMITER = { max: 4, duration: 1_000 };
const KEPT_EVENTS = 100;

/** Names of jobs that wait for a replica with time for them. Nothing depends on it: see `JobScheduler`. */
export class JobQueue {
  private readonly queue: Queue;
  private readonly worker: Worker;
  private isClosed = false;

  /** @param run the job of that name, if there is one. It must not reject. */
  constructor(
    { redisUrl, deploymentId, log }: JobQueueOptions,
    run: (name: string) => Promise<void>,
  ) {
    const connection = {
      url: redisUrl,
      connectTimeout: 2_000,
      keepAlive: 5_000,
      connectionName: 'weir-jobs',
      // Otherwise a connection to a Redis that is out of reach would be tried again after it was closed.
      retryStrategy: (attempt: number) =>
        this.isClosed ? null : Math.min(50 * 2 ** attempt, MAX_RETRY_DELAY_MS),
      maxRetriesPerRequest: null,
    };
    const prefix = redisNames(deploymentId).jobs;
    this.queue = new Queue(NAME, {
      connection: { ...connection, enableOfflineQueue: false },
      prefix,
      streams: { events: { maxLen: KEPT_EVENTS } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    this.worker = new Worker(NAME, ({ name }) => run(name), {
      connection,
      prefix,
      concurrency: 2,
      limiter: LIMITER,
    });
    // Outages are logged by the publisher of changes.
    this.queue.on('error', () => undefined);
    this.worker.on('error', (error) => {
      if (this.worker.isPaused()) return;
      if (error.name === 'ReplyError')
        log.warn({ reason: String(error) }, 'the queue of jobs failed');
      void this.worker.pause(true);
      setTimeout(() => void this.worker.resume(), ERROR_PAUSE_MS).unref();
    });
  }

  /** Adds a job that is not in the queue yet. @returns false when Redis does not take it. */
  add(name: string): Promise<boolean> {
    const added = this.queue.add(name, null, { jobId: name }).then(
      () => true,
      () => false,
    );
    return withTimeout(added, false, ADD_TIMEOUT_MS);
  }

  /** Does not wait for jobs in progress, nor for a Redis that is out of reach. */
  async close(): Promise<void> {
    this.isClosed = true;
    const closed = Promise.allSettled([this.worker.close(true), this.queue.disconnect()]);
    await withTimeout<unknown>(closed, null, CLOSE_TIMEOUT_MS);
  }
}
