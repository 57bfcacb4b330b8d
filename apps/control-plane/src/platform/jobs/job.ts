/** A background job. It runs on one replica at a time. */
export interface Job {
  /** Unique name of the queue in Redis and of the job in metrics. Letters, digits and hyphens. */
  readonly name: string;
  /** Time between two starts. The next run waits for a run that takes longer. */
  readonly everyMs: number;
  /** Number of attempts when a run throws. The delay doubles each time. */
  readonly attempts: number;
  readonly firstRetryDelayMs: number;
  /**
   * Does the work. It must be idempotent: a run is repeated when its replica dies before it could report the end.
   * @param signal aborted when the process stops. If the run then throws, another replica repeats it.
   */
  run(signal: AbortSignal): Promise<void>;
}
