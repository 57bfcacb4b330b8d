/** Work that the control plane does by itself, on one replica at a time. */
export interface Job {
  /** Unique; names the queue in Redis and stands in the metrics. Letters, digits and hyphens. */
  readonly name: string;
  /** Time from one start to the next. A run that takes longer makes the next one wait. */
  readonly everyMs: number;
  /** How often a run that throws is tried in all, each time after twice the pause of the last. */
  readonly attempts: number;
  readonly firstRetryDelayMs: number;
  /**
   * Does the work. May run again after it was done already: a replica that dies takes the news with it.
   * @param signal aborted when the process stops; what is thrown then is tried again by another replica.
   */
  run(signal: AbortSignal): Promise<void>;
}
