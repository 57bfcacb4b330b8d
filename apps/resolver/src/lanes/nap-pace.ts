/** Two turns follow closely when at most a nap and a turn of this length are between them. */
const SHORT_TURN_MS = 0.8;
/** Naps begin after this many close turns that found packets. A few questions at a time, as of one page, never wait. */
const BUSY_TURNS = 8;
/** Naps end after this many turns in a row that found none. */
const EMPTY_TURNS = 2;

/**
 * When a lane naps that forwards: to be woken for each handful of queries, and again for their answers, costs more than
 * to forward them.
 */
export class NapPace {
  private busyTurns = 0;
  private emptyTurns = 0;
  private turnedMs = -Infinity;

  /** @param napMs how long a nap is; 0: never */
  constructor(private readonly napMs: number) {}

  /** A turn has found this many packets. @returns whether to nap before the next one */
  onTurn(found: number, nowMs: number): boolean {
    const isSoon = nowMs - this.turnedMs <= this.napMs + SHORT_TURN_MS;
    this.turnedMs = nowMs;
    this.emptyTurns = found === 0 ? this.emptyTurns + 1 : 0;
    if (!isSoon || this.emptyTurns === EMPTY_TURNS) this.busyTurns = 0;
    else if (found > 0) this.busyTurns++;
    return this.napMs > 0 && this.busyTurns >= BUSY_TURNS;
  }
}
