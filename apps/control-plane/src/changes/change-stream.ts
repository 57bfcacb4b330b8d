import { setTimeout as sleep } from 'node:timers/promises';
import { type ChangeDto, toDto } from './change.dto.js';
import type { Json } from '../http/validation/dto.js';
import type { ChangeRecords, RecordFilter, RecordPlace } from './change-records.js';

/** Records that are read at a time, and so the most that a stream holds. */
const PAGE = 100;
/** Shortest time between two reads of a stream, so that quick changes are read together. */
const PAUSE_MS = 200;
/** When a client comes back after a break. */
const RETRY_MS = 2_000;

interface StreamOptions {
  readonly filter: RecordFilter;
  readonly place: RecordPlace;
  /** How many of the newest, where that is the place. */
  readonly last: number | undefined;
  /** After so long without an event for it the client gets a comment, and the log is read in any case. */
  readonly heartbeatMs: number;
  /** Whether its token is still accepted. */
  readonly isAllowed: () => boolean;
}

type Page = Awaited<ReturnType<ChangeRecords['find']>>;

/** The changes of a log as events, oldest first, and then as they come (HTML Living Standard §9.2, event streams). */
export class ChangeStream {
  private isOver = false;
  /** All up to this revision was read. */
  private after = 0;
  /** The newest revision that was announced since the last read began. */
  private newest = 0;
  private wake: () => void = () => undefined;

  private constructor(
    private readonly records: ChangeRecords,
    private readonly options: StreamOptions,
    private page: Page,
  ) {}

  /** @throws the error of the first read. */
  static async open(records: ChangeRecords, options: StreamOptions): Promise<ChangeStream> {
    const { filter, place, last = PAGE } = options;
    const size = place === 'newest' ? last : PAGE;
    return new ChangeStream(records, options, await records.find(filter, place, size));
  }

  /** A revision may have been made. */
  onRevision(revision: number): void {
    if (revision <= this.after) return;
    this.newest = Math.max(this.newest, revision);
    this.wake();
  }

  /** Ends the text after the event that is being sent. */
  end(): void {
    this.isOver = true;
    this.wake();
  }

  /** Ends when `end` was called, its token is no longer accepted, or the log was set back to before its place. */
  async *text(): AsyncGenerator<string, undefined> {
    yield `retry: ${RETRY_MS}\n\n`;
    const { lineage } = this.page.result;
    const { filter, place, heartbeatMs, isAllowed } = this.options;
    this.after = place === 'newest' ? 0 : place.after;
    // Nothing is newer than the newest.
    let size = place === 'newest' ? Infinity : PAGE;
    let sentMs = performance.now();
    for (;;) {
      const { result, revision } = this.page;
      if (result.lineage !== lineage || revision < this.after) return undefined;
      for (const record of result.records) {
        if (this.isOver) return undefined;
        yield toEvent(toDto(record));
      }
      const isWhole = result.records.length < size;
      // What the filter has passed over is done with too.
      this.after = isWhole ? revision : (result.records.at(-1)?.revision ?? revision);
      size = PAGE;
      if (result.records.length > 0) sentMs = performance.now();
      if (isWhole) {
        await sleep(PAUSE_MS);
        const dueMs = sentMs + heartbeatMs;
        if (this.newest <= this.after && !this.isOver)
          await this.nextRevision(dueMs - performance.now());
        // Also while all that comes is passed over.
        if (performance.now() >= dueMs) {
          yield ':\n\n';
          sentMs = performance.now();
        }
      }
      if (this.isOver || !isAllowed()) return undefined;
      this.newest = 0;
      this.page = await this.records.findForStream(filter, { after: this.after }, PAGE);
    }
  }

  /** Waits until a revision is announced, at most so long. */
  private nextRevision(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(timeoutMs, 0));
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function toEvent(change: Json<ChangeDto>): string {
  return `id: ${change.revision}\ndata: ${JSON.stringify(change)}\n\n`;
}
