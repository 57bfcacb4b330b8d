/** A background job. It runs on one replica at a time. */
export interface Job {
  /** Unique name. Letters, digits and hyphens. */
  readonly name: string;
  /** Time between two starts. The next run waits for a run that takes longer. */
  readonly everyMs: number;
  /** Number of attempts when a run throws. The delay doubles each time. */
  readonly attempts: number;
  readonly firstRetryDelayMs: number;
  /** Whether the replicas share its runs through the queue in Redis. */
  readonly isQueued?: boolean;
  /**
   * Does the work. It must be idempotent: a run is repeated when its replica dies before it could report the end.
   * @param signal aborted when the process stops, or has lost the lock of the job.
   */
  run(signal: AbortSignal): Promise<void>;
}
