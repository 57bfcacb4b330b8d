/** Time between two sweeps while something is outstanding, */
const BUSY_MS = 25;
/** and while nothing is. */
const IDLE_MS = 250;

/** Calls `sweep` regularly: often while something is outstanding. Otherwise the process sleeps. Allocates nothing. */
export class SweepTimer {
  private readonly idle: NodeJS.Timeout;
  private readonly busy: NodeJS.Timeout;
  private isBusy = true;

  /** @param sweep says whether something is outstanding */
  constructor(private readonly sweep: () => boolean) {
    this.idle = setInterval(this.turn, IDLE_MS);
    this.busy = setTimeout(this.turn, BUSY_MS);
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
  }

  private readonly turn = (): void => {
    this.isBusy = this.sweep();
    if (this.isBusy) this.busy.refresh();
  };
}
