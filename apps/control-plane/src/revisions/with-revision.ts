import type { Applied } from '@weir/change-feed';

/** A result together with the revision of the configuration that it belongs to. */
export class WithRevision<T> {
  constructor(
    readonly result: T,
    /** Of a change: the revision that it made. Of a read: the revision that was read. */
    readonly revision: number,
    /** How many resolvers have applied the change; null for a read. */
    readonly applied: Applied | null = null,
  ) {}

  map<U>(convert: (result: T) => U): WithRevision<U> {
    return new WithRevision(convert(this.result), this.revision, this.applied);
  }
}

/** What a client must read while it is waited for: 1 Mbit/s. */
const BYTES_PER_MS = 125;

/**
 * How far a client is behind that pace. Only the time counts for which the server waits for the client. Bytes that it
 * has read ahead count for nothing: buffers take the first megabytes at once.
 */
export class ReadingPace {
  private debtMs = 0;
  private waitsSinceMs: number | null = null;

  /** The client is waited for until it has read these bytes. */
  wait(bytes: number, nowMs: number): void {
    this.debtMs = Math.max(0, this.debtMs - bytes / BYTES_PER_MS);
    this.waitsSinceMs = nowMs;
  }

  resume(nowMs: number): void {
    this.debtMs = this.behindMs(nowMs);
    this.waitsSinceMs = null;
  }

  behindMs(nowMs: number): number {
    return this.debtMs + (this.waitsSinceMs === null ? 0 : nowMs - this.waitsSinceMs);
  }
}

/** Length of the chunks in which the text is sent. */
const CHUNK_CHARACTERS = 16_384;

/** Items that are sent as a JSON array while they are read. It holds a connection until it is read or closed. */
export class Listing<T> {
  readonly pace = new ReadingPace();
  /** Whether it holds a connection. */
  isOpen: boolean;
  /** Is called when the client reads too slowly. It must break off the response and close the listing. */
  breakOff: () => void = () => undefined;

  /** @param first what `rest.next()` gave first: it shows that the query works before the response starts. */
  constructor(
    private readonly first: IteratorResult<T, undefined>,
    private readonly rest: AsyncGenerator<T, undefined>,
  ) {
    this.isOpen = first.done !== true;
  }

  /** The text of the array, in chunks of about `CHUNK_CHARACTERS`. */
  async *json(): AsyncGenerator<string> {
    let chunk = '[';
    let separator = '';
    for (let item = this.first; !item.done; item = await this.rest.next()) {
      chunk += separator + JSON.stringify(item.value);
      separator = ',';
      if (chunk.length >= CHUNK_CHARACTERS) {
        this.pace.wait(chunk.length, performance.now());
        yield chunk;
        this.pace.resume(performance.now());
        chunk = '';
      }
    }
    this.isOpen = false;
    yield `${chunk}]`;
  }

  /** Releases the connection. May be called more than once. */
  async close(): Promise<void> {
    this.isOpen = false;
    await this.rest.return(undefined);
  }
}
