/** The clocks of a thread, in milliseconds. */
export interface Clocks {
  readonly wallMs: () => number;
  /** The same in all threads. */
  readonly monotonicMs: () => number;
}

/**
 * Times that a test sets, in memory that all threads read: of the wall clock, then of the monotonic clock. NaN: the
 * real time.
 */
export type SetTimes = Float64Array;

/** Clocks that stand still where a time is set. */
export function withTimes(real: Clocks, times: SetTimes | undefined): Clocks {
  if (times === undefined) return real;
  return {
    wallMs: () => (Number.isNaN(times[0]) ? real.wallMs() : times[0]),
    monotonicMs: () => (Number.isNaN(times[1]) ? real.monotonicMs() : times[1]),
  };
}
