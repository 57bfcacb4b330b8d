/** Two looks at the rings follow closely when at most a nap and a turn of this length are between them. */
const SHORT_TURN_MS = 0.8;
/** Naps begin after this many close looks that found queries. A few questions at a time, as of one page, never wait. */
const BUSY_LOOKS = 8;
/** Naps end after this many looks in a row that found none. */
const EMPTY_LOOKS = 2;

/**
 * When the main thread naps, as lanes do: to be woken for each handful of queries, and again for their answers, costs
 * more than to forward them. A thread with much else to do makes long turns, so it does not nap.
 */
export class NapPace {
  private busyLooks = 0;
  private emptyLooks = 0;
  private lookedMs = -Infinity;

  /** @param napMs how long a nap is; 0: never */
  constructor(private readonly napMs: number) {}

  /** The main thread has taken this many queries from the rings. @returns whether to nap before it looks again */
  onLook(found: number, nowMs: number): boolean {
    const isSoon = nowMs - this.lookedMs <= this.napMs + SHORT_TURN_MS;
    this.lookedMs = nowMs;
    this.emptyLooks = found === 0 ? this.emptyLooks + 1 : 0;
    if (!isSoon || this.emptyLooks === EMPTY_LOOKS) this.busyLooks = 0;
    else if (found > 0) this.busyLooks++;
    return this.napMs > 0 && this.busyLooks >= BUSY_LOOKS;
  }
}
