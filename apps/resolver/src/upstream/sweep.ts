import { TurnBudget } from '../query/turn-budget.js';
import type { InFlightPool, InFlight } from './in-flight.js';

/** What happens to questions with time. */
export interface SweepEvents {
  /** The time of the last attempt is over. */
  onTimeout(entry: InFlight): void;
  /** The clients have waited long enough for an expired answer. Called once. */
  onLate(entry: InFlight): void;
}

/** Checks the timeouts of all questions in flight, in pieces when many time out at once. */
export class Sweep {
  /** Position of the entry to check next; −1 when no sweep is going on. */
  private position = -1;
  private readonly budget: TurnBudget;
  private immediate: NodeJS.Immediate | undefined;

  /** @param nowMs monotonic clock */
  constructor(
    private readonly pool: InFlightPool,
    private readonly events: SweepEvents,
    private readonly nowMs: () => number,
  ) {
    this.budget = new TurnBudget(nowMs);
  }

  /** Begins a sweep, unless the last one still goes on. */
  begin(): void {
    if (this.position >= 0) return;
    this.position = this.pool.size - 1;
    this.onTurn();
  }

  /** Whether it goes on in later turns. */
  get hasPieces(): boolean {
    return this.position >= 0;
  }

  stop(): void {
    clearImmediate(this.immediate);
    this.position = -1;
  }

  /**
   * From the last position down: an entry that ends meanwhile is replaced by the last one, which has been checked
   * already or is new.
   */
  private readonly onTurn = (): void => {
    const nowMs = this.nowMs();
    this.budget.start();
    for (let at = Math.min(this.position, this.pool.size - 1); at >= 0; at--) {
      const entry = this.pool.at(at);
      const isLate = !entry.isLate && nowMs >= entry.staleAtMs;
      const isOver = nowMs >= entry.attemptDeadlineMs;
      if (!isLate && !isOver) continue;
      if (!this.budget.take()) {
        this.position = at;
        this.immediate = setImmediate(this.onTurn);
        return;
      }
      if (isLate) this.events.onLate(entry);
      if (isOver) this.events.onTimeout(entry);
    }
    this.position = -1;
  };
}

/** Time between two sweeps while something is outstanding, */
const BUSY_MS = 25;
/** and while nothing is. */
const IDLE_MS = 250;

/**
 * Calls `sweep` regularly: often while something is outstanding. Otherwise the process sleeps. Replies that have come
 * are read before: after a stall of the process, a question whose reply waits in the socket is not late.
 */
export class SweepTimer {
  private readonly idle: NodeJS.Timeout;
  private readonly busy: NodeJS.Timeout;
  private next: NodeJS.Immediate | undefined;
  private isBusy = true;

  /** @param sweep says whether something is outstanding */
  constructor(private readonly sweep: () => boolean) {
    this.idle = setInterval(this.onTime, IDLE_MS);
    this.busy = setTimeout(this.onTime, BUSY_MS);
  }

  /** Something is outstanding. */
  wake(): void {
    if (this.isBusy) return;
    this.isBusy = true;
    this.busy.refresh();
  }

  stop(): void {
    clearInterval(this.idle);
    clearTimeout(this.busy);
    clearImmediate(this.next);
  }

  private readonly onTime = (): void => {
    this.next ??= setImmediate(this.afterReplies);
  };

  private readonly afterReplies = (): void => {
    this.next = undefined;
    this.isBusy = this.sweep();
    if (this.isBusy) this.busy.refresh();
  };
}
