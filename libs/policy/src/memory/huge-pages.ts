/** Bytes of a huge page: 2 MiB with pages of 4 KiB, on x64 and arm64. */
export const HUGE_PAGE_BYTES = 2 ** 21;

/** Whole huge pages of a buffer, as offsets. */
export interface PageRange {
  readonly start: number;
  readonly end: number;
}

/** What the kernel is asked for. A pure library makes no system calls, so its user brings them. */
export interface HugePages {
  /**
   * Asks for huge pages, before the buffer is written: then the first write to a page makes it huge.
   * @returns null: there is no whole page, or the kernel refuses.
   */
  advise(buffer: SharedArrayBuffer): PageRange | null;
  /** Gives the memory of whole pages back to the system. Their words are 0 from now on. */
  release(buffer: SharedArrayBuffer, pages: PageRange): void;
}
