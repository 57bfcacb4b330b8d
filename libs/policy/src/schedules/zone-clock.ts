const DAY_MS = 86_400_000;
/** The longest window, when the offset of the zone does not change. */
const HORIZON_DAYS = 14;
/** Windows that are kept: the current one, and those that the search for the next switch needs. */
const WINDOWS = 4;

/**
 * Local time of an IANA time zone, with daylight saving. Between two changes of the offset of a zone the offset is a
 * constant, so the clock keeps windows [from, until) with one offset each, and asks Intl only for a new window.
 */
export class ZoneClock {
  /** The time of the current query, set by the policy. A field, as an argument would be boxed in each call. */
  nowMs = Number.NaN;
  /** The offset of local time from UTC in the window that `seek` found, in milliseconds; positive is east. */
  offsetMs = 0;
  /** The end of that window, exclusive: the next change of the offset, or the last day that the clock looked at. */
  untilMs = 0;

  private readonly format: Intl.DateTimeFormat;
  private readonly from = new Float64Array(WINDOWS);
  private readonly until = new Float64Array(WINDOWS);
  private readonly offset = new Float64Array(WINDOWS);
  private oldest = 0;

  /** @throws RangeError when there is no such zone. */
  constructor(timeZone: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /**
   * Finds the window that holds an instant and fills in `offsetMs` and `untilMs`. Allocates only when it is a new
   * window.
   */
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
    const offset = this.askOffset(atMs);
    let same = atMs;
    let until = atMs;
    for (let day = 0; day < HORIZON_DAYS; day++) {
      until = same + DAY_MS;
      if (this.askOffset(until) !== offset) {
        until = this.findChange(same, until, offset);
        break;
      }
      same = until;
    }
    this.from[window] = atMs;
    this.until[window] = until;
    this.offset[window] = offset;
    return window;
  }

  /** The first whole second after `same` at which the offset is another one; it is at `changed`. */
  private findChange(same: number, changed: number, offset: number): number {
    let low = Math.floor(same / 1000);
    let high = Math.ceil(changed / 1000);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.askOffset(middle * 1000) === offset) low = middle;
      else high = middle;
    }
    return high * 1000;
  }

  private askOffset(atMs: number): number {
    const second = Math.floor(atMs / 1000) * 1000;
    const field: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.format.formatToParts(second)) field[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = field;
    // Date.UTC takes the years 0 to 99 for those of the 20th century.
    const dayMs = new Date(0).setUTCFullYear(year, month - 1, day);
    return dayMs + ((hour * 60 + minute) * 60 + seconds) * 1000 - second;
  }
}
