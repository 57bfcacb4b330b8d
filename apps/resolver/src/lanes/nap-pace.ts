/** A look at the rings is soon after the one before when no more than a nap and a turn of this length are between. */
const SHORT_TURN_MS = 0.8;
/** Naps begin with so many such looks that found queries. A few questions at a time, as of one page, never wait. */
const BUSY_LOOKS = 8;
/** Naps end after so many looks in a row that found none. */
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

  /** The main thread has taken so many queries from the rings. @returns whether to nap before it looks again */
  onLook(found: number, nowMs: number): boolean {
    const isSoon = nowMs - this.lookedMs <= this.napMs + SHORT_TURN_MS;
    this.lookedMs = nowMs;
    this.emptyLooks = found === 0 ? this.emptyLooks + 1 : 0;
    if (!isSoon || this.emptyLooks === EMPTY_LOOKS) this.busyLooks = 0;
    else if (found > 0) this.busyLooks++;
    return this.napMs > 0 && this.busyLooks >= BUSY_LOOKS;
  }
}
