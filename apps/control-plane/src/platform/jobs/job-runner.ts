import { redisNames } from '@weir/change-feed';
import { JobConnections } from './job-connections.js';
import { JobWorker, type JobWorkerOptions } from './job-worker.js';
import type { Job } from './job.js';

export interface JobRunnerOptions extends Omit<JobWorkerOptions, 'connections' | 'prefix'> {
  readonly redisUrl: string;
  /** Separates the queues of this deployment from others on the same Redis. */
  readonly deploymentId: string;
  readonly jobs: readonly Job[];
}

/** Interval in which the schedules are written again, in case Redis has lost them. */
const RESCHEDULE_MS = 30_000;

/**
 * Runs jobs by schedule with BullMQ. Each job has a queue, and runs on one replica at a time. While Redis is out of
 * reach, no job runs. When Redis has lost its data, the schedules are created again.
 */
export class JobRunner {
  private readonly connections: JobConnections;
  private readonly workers: readonly JobWorker[];
  private readonly rescheduling: NodeJS.Timeout;

  /** Starts at once, or when Redis can be reached. */
  constructor(private readonly options: JobRunnerOptions) {
    const { redisUrl, deploymentId, jobs, log } = options;
    const connections = (this.connections = new JobConnections(redisUrl, log));
    const prefix = redisNames(deploymentId).jobs;
    this.workers = jobs.map((job) => new JobWorker(job, { ...options, connections, prefix }));
    connections.shared.on('ready', () => void this.schedule());
    this.rescheduling = setInterval(() => void this.schedule(), RESCHEDULE_MS);
  }

  /** Waits for the current runs to end, but only for a few seconds. */
  async stop(): Promise<void> {
    clearInterval(this.rescheduling);
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
