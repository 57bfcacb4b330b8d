export const LogCount = {
  /** Lines of the query log that were written, by the main thread for all, and those that were dropped. */
  writtenLines: 0,
  lostLines: 1,
  /** Frames for the dnstap receiver that were sent, and those that were not. */
  sentFrames: 2,
  lostFrames: 3,
  /** Connections to the dnstap receiver, now. */
  connections: 4,
} as const;
type LogCount = (typeof LogCount)[keyof typeof LogCount];

/** What a thread counts about its query log and dnstap. */
export class LogCounts {
  static readonly size = 5;

  /** @param counts where it counts: `size` numbers, which another thread may read */
  constructor(private readonly counts: Float64Array = new Float64Array(LogCounts.size)) {}

  count(what: LogCount, times = 1): void {
    this.counts[what] += times;
  }
}
