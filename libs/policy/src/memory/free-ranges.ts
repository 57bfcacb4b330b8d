/** Bytes from `start` to `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The free ranges of a slab, ascending; no two of them touch. */
export class FreeRanges {
  private readonly ranges: Range[];

  constructor(whole: Range) {
    this.ranges = [whole];
  }

  get all(): readonly Range[] {
    return this.ranges;
  }

  /** The first range that has room for so many bytes. */
  find(bytes: number): Range | undefined {
    return this.ranges.find(({ start, end }) => end - start >= bytes);
  }

  /** Takes bytes from the front of a range that `find` has returned. */
  cut(range: Range, bytes: number): void {
    const rest = { start: range.start + bytes, end: range.end };
    this.ranges.splice(this.ranges.indexOf(range), 1, ...(rest.start < rest.end ? [rest] : []));
  }

  /** @returns the range that it has become with the free ones beside it. */
  add({ start, end }: Range): Range {
    const { ranges } = this;
    let at = ranges.findIndex((one) => one.start > start);
    if (at < 0) at = ranges.length;
    const before = at > 0 && ranges[at - 1].end === start ? 1 : 0;
    const behind = at < ranges.length && ranges[at].start === end ? 1 : 0;
    const joined = {
      start: before === 1 ? ranges[at - 1].start : start,
      end: behind === 1 ? ranges[at].end : end,
    };
    ranges.splice(at - before, before + behind, joined);
    return joined;
  }
}
