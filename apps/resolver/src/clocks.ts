/** The clocks of a thread, in milliseconds. */
export interface Clocks {
  readonly wallMs: () => number;
  /** The same in all threads. */
  readonly monotonicMs: () => number;
}

/** What a thread takes once for a batch of queries or answers: it stays as it is from `enter` to `leave`. */
export interface BatchTurn {
  enter(): void;
  leave(): void;
}

/** Clocks that stand still from `enter` to `leave`: to read the real ones costs a query more than a table does. */
export class BatchClocks implements Clocks, BatchTurn {
  private isHeld = false;
  private heldWallMs = 0;
  private heldMonotonicMs = 0;

  constructor(private readonly real: Clocks) {}

  readonly wallMs = (): number => (this.isHeld ? this.heldWallMs : this.real.wallMs());

  readonly monotonicMs = (): number =>
    this.isHeld ? this.heldMonotonicMs : this.real.monotonicMs();

  enter(): void {
    this.heldWallMs = this.real.wallMs();
    this.heldMonotonicMs = this.real.monotonicMs();
    this.isHeld = true;
  }

  leave(): void {
    this.isHeld = false;
  }
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
