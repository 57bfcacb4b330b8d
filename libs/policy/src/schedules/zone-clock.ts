/** Windows that are kept: the current one, and those that the search for the next switch needs. */
const WINDOWS = 4;

/**
 * Local time of an IANA time zone, with daylight saving. Between two changes of the offset of a zone the offset is a
 * constant, so the clock keeps windows [from, until) with one offset each, and asks Temporal only for a new window.
 */
export class ZoneClock {
  /** The time of the current query, set by the policy. A field, as an argument would be boxed in each call. */
  nowMs = Number.NaN;
  /** The offset of local time from UTC in the window that `seek` found, in milliseconds; positive is east. */
  offsetMs = 0;
  /** The end of that window, exclusive: the next change of the offset; Infinity: there will be none. */
  untilMs = 0;

  private readonly from = new Float64Array(WINDOWS);
  private readonly until = new Float64Array(WINDOWS);
  private readonly offset = new Float64Array(WINDOWS);
  private oldest = 0;

  /** @throws RangeError when there is no such zone. */
  constructor(private readonly timeZone: string) {
    this.load(0);
  }

  /** Finds the window of an instant, and sets `offsetMs` and `untilMs`. Allocates only when it is a new window. */
  seek(atMs: number): void {
    let window = 0;
    while (window < WINDOWS && !(this.from[window] <= atMs && atMs < this.until[window])) window++;
    if (window === WINDOWS) window = this.load(atMs);
    this.offsetMs = this.offset[window];
    this.untilMs = this.until[window];
  }

  private load(atMs: number): number {
    const window = this.oldest;
    this.oldest = (window + 1) % WINDOWS;
    const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs));
    const local = instant.toZonedDateTimeISO(this.timeZone);
    const change = local.getTimeZoneTransition('next');
    this.from[window] = atMs;
    this.until[window] = change?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    this.offset[window] = local.offsetNanoseconds / 1_000_000;
    return window;
  }
}
