import { redisNames } from '@weir/change-feed';
import type { Job } from './job.js';
import { JobConnections } from './job-connections.js';
import { JobWorker, type JobWorkerOptions } from './job-worker.js';

export interface JobRunnerOptions extends Omit<JobWorkerOptions, 'connections' | 'prefix'> {
  readonly redisUrl: string;
  /** Tells this deployment's queues from others on the same Redis. */
  readonly feedToken: string;
  readonly jobs: readonly Job[];
}

/** Schedules that Redis has lost are back after this long, or as soon as the connection is. */
const RENEWAL_MS = 30_000;

/**
 * Runs jobs by schedule through BullMQ: a queue a job, and one run at a time of each among all replicas, by whichever
 * is free. While Redis is away nothing runs; an empty one is given the schedules again.
 */
export class JobRunner {
  private readonly connections: JobConnections;
  private readonly workers: readonly JobWorker[];
  private readonly renewal: NodeJS.Timeout;

  /** Begins at once, or when Redis can be reached. */
  constructor(private readonly options: JobRunnerOptions) {
    const { redisUrl, feedToken, jobs, log } = options;
    const connections = (this.connections = new JobConnections(redisUrl, log));
    const prefix = redisNames(feedToken).jobs;
    this.workers = jobs.map((job) => new JobWorker(job, { ...options, connections, prefix }));
    connections.shared.on('ready', () => void this.schedule());
    this.renewal = setInterval(() => void this.schedule(), RENEWAL_MS);
  }

  /** Lets the runs under way end, for a few seconds at most. */
  async stop(): Promise<void> {
    clearInterval(this.renewal);
    await Promise.all(this.workers.map((worker) => worker.stop()));
    this.connections.close();
  }

  private async schedule(): Promise<void> {
    if (!this.connections.isReady) return;
    try {
      await Promise.all(this.workers.map((worker) => worker.schedule()));
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, 'cannot schedule the background jobs');
    }
  }
}
