import type { PortSpread } from '@weir/udp-batch';

const WINDOW_MS = 100;
/** A lane is woken when those awake use more than this fraction of a core each. */
const BUSY = 0.6;
/** A lane is parked when the others would use less than this fraction of a core each. */
const CALM = 0.4;
/** For this many windows in a row. */
const CALM_WINDOWS = 10;
/** After this many turns in a row that did not empty the sockets, all lanes are woken. */
const BACKLOG_TURNS = 4;

/**
 * Which lanes get queries. A turn costs about as much for one query as for many, so few lanes with full batches cost
 * less than many. The queries are spread at random, so the load of the first lane is that of each. It wakes and parks
 * the others, even while the main thread has no time. A parked lane answers what has arrived, and gets nothing more. At
 * first all get queries.
 */
export class AwakeLanes {
  private windowStartMs = 0;
  private cpuStartMs = 0;
  private backlogTurns = 0;
  private calmWindows = 0;

  /**
   * @param awake one word: how many lanes get queries, which the main thread reads
   * @param lanes how many there are
   * @param cpuMs processor time of this thread
   * @param onRefused the kernel has refused a change, as when its memory for such programs is full; it is tried again
   */
  constructor(
    private readonly spread: PortSpread,
    private readonly awake: Int32Array,
    private readonly lanes: number,
    private readonly cpuMs: () => number,
    private readonly onRefused: (error: unknown) => void,
  ) {}

  /** The first lane has made a turn. @param isEmptied whether its sockets have no more queries */
  onTurn(nowMs: number, isEmptied: boolean): void {
    this.backlogTurns = isEmptied ? 0 : this.backlogTurns + 1;
    if (this.backlogTurns === BACKLOG_TURNS) this.wake(this.lanes);
    if (nowMs - this.windowStartMs >= WINDOW_MS) this.endWindow(nowMs);
  }

  private endWindow(nowMs: number): void {
    const count = this.awake[0];
    const cpuMs = this.cpuMs();
    const share = (cpuMs - this.cpuStartMs) / (nowMs - this.windowStartMs);
    this.windowStartMs = nowMs;
    this.cpuStartMs = cpuMs;
    const isCalm = count > 1 && share * count < CALM * (count - 1);
    this.calmWindows = isCalm ? this.calmWindows + 1 : 0;
    if (share > BUSY) this.wake(count + 1);
    else if (this.calmWindows === CALM_WINDOWS) this.wake(count - 1);
  }

  private wake(wanted: number): void {
    const count = Math.min(wanted, this.lanes);
    this.calmWindows = 0;
    if (count === this.awake[0]) return;
    try {
      this.spread.over(Array.from({ length: count }, (_, lane) => lane));
      Atomics.store(this.awake, 0, count);
    } catch (error) {
      this.backlogTurns = 0;
      this.onRefused(error);
    }
  }
}
