import type { Change, Head } from '@weir/config-model';
import { FEED_VERSION, FEED_VERSION_HEADER, FIRST_FEED_VERSION } from '../protocol/feed-version.js';
import { decodeChanges } from '../protocol/decode-changes.js';
import { readLines } from '../protocol/read-lines.js';
import { parseChangesPage, type SnapshotPart } from '../protocol/protocol.js';
import { readSnapshot } from '../protocol/snapshot-stream.js';

/** A request to the feed API failed. */
export class FeedError extends Error {
  override readonly name: string = 'FeedError';
  /**
   * Whether the same request will fail again. False: the API is unreachable, busy or slow now, and may answer
   * later.
   */
  readonly isRefusal: boolean = false;
}

interface ReadOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Start of the range that `headers` ask for. If the server sends everything, the bytes before it are skipped. */
  readonly offsetBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Longest time without a byte from the feed API, before its response or within it. */
const IDLE_TIMEOUT_MS = 10_000;
const NOT_ACCEPTABLE = 406;
const GONE = 410;
/** Statuses for `try again later`, from the feed API or a proxy (RFC 9110 §15, RFC 6585 §4, RFC 8470 §5.2). */
const TRANSIENT_STATUSES = new Set([408, 425, 429, 502, 503, 504]);

/** A client of the feed API. Each call sends one request; the caller decides whether to retry. */
export class FeedClient {
  private readonly closing = new AbortController();

  constructor(
    private readonly feedUrl: string,
    private readonly feedToken: () => string,
    private readonly idleTimeoutMs = IDLE_TIMEOUT_MS,
  ) {}

  /**
   * The next changes after the revision, and the head of the log. Null: the log was pruned behind that revision.
   * @param signal aborts the request; its reason is thrown.
   */
  async changesAfter(
    revision: number,
    signal?: AbortSignal,
  ): Promise<{ head: Head; changes: Change[] } | null> {
    try {
      const path = `/changes?after=${revision}`;
      const chunks = await Array.fromAsync(this.read(path, 'changes', { signal }));
      const page = parseChangesPage(Buffer.concat(chunks).toString('utf8'));
      return { head: page.head, changes: await decodeChanges(page.changes) };
    } catch (error) {
      if (error instanceof StatusError && error.status === GONE) return null;
      throw error;
    }
  }

  /** The parts of a snapshot, verified against its trailer as they end. */
  snapshot(): AsyncGenerator<SnapshotPart> {
    return readSnapshot(readLines(this.read('/snapshot', 'snapshot')));
  }

  /** The bytes of a catalogue image from the offset on, as they arrive, not verified. */
  async *catalogueImage(
    sha256: string,
    offsetBytes = 0,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const headers =
      offsetBytes > 0 ? { Range: `bytes=${offsetBytes}-`, 'If-Range': `"${sha256}"` } : {};
    yield* this.read(`/catalogue/${sha256}`, 'catalogue image', { headers, offsetBytes, signal });
  }

  /** Aborts all requests, those of later calls too. */
  close(): void {
    this.closing.abort(new FeedError('the feed client was closed'));
  }

  /** The body of a response. @throws FeedError, also when no byte arrives for `idleTimeoutMs`. */
  private async *read(
    path: string,
    what: string,
    { headers = {}, offsetBytes = 0, signal: callerSignal }: ReadOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const idleTimeout = new AbortController();
    const startTimer = (): NodeJS.Timeout =>
      setTimeout(() => {
        idleTimeout.abort(new IdleTimeoutError(what));
      }, this.idleTimeoutMs);
    let timer = startTimer();
    try {
      const signals = [
        idleTimeout.signal,
        this.closing.signal,
        ...(callerSignal ? [callerSignal] : []),
      ];
      const signal = AbortSignal.any(signals);
      const response = await this.get(path, headers, signal);
      const version = response.headers.get(FEED_VERSION_HEADER) ?? String(FIRST_FEED_VERSION);
      if (version !== String(FEED_VERSION) || response.status === NOT_ACCEPTABLE) {
        await response.body?.cancel();
        throw new VersionError(version);
      }
      if (response.status !== 200 && !isRangeFrom(response, offsetBytes)) {
        await response.body?.cancel();
        throw new StatusError(response.status, what);
      }
      let skip = response.status === 200 ? offsetBytes : 0;
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        if (chunk.length > skip) yield skip === 0 ? chunk : chunk.subarray(skip);
        skip = Math.max(0, skip - chunk.length);
        timer = startTimer();
      }
    } catch (error) {
      if (error instanceof FeedError) throw error;
      throw new FeedError(`the feed API broke off its answer (${what})`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  private async get(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    try {
      return await fetch(new URL(path, this.feedUrl), {
        headers: {
          ...headers,
          Authorization: `Bearer ${this.feedToken()}`,
          [FEED_VERSION_HEADER]: String(FEED_VERSION),
        },
        redirect: 'error',
        signal,
      });
    } catch (error) {
      if (error instanceof FeedError) throw error;
      const cause = (error as Error).cause ?? error;
      throw new FeedError(`the feed API does not answer: ${String(cause)}`, { cause: error });
    }
  }
}

/** Whether the response is the range that was asked for. */
function isRangeFrom(response: Response, offsetBytes: number): boolean {
  const range = response.headers.get('content-range') ?? '';
  return response.status === 206 && range.startsWith(`bytes ${offsetBytes}-`);
}

class IdleTimeoutError extends FeedError {
  constructor(what: string) {
    super(`the feed API sent nothing for too long (${what})`);
  }
}

/** Worth a retry: during an upgrade another replica of the control plane may answer the next request. */
class VersionError extends FeedError {
  constructor(version: string) {
    super(
      `the feed API speaks version ${version.slice(0, 20)} of the feed, ` +
        `this process version ${FEED_VERSION}; what is in force stays`,
    );
  }
}

class StatusError extends FeedError {
  override readonly isRefusal: boolean;
  constructor(
    readonly status: number,
    what: string,
  ) {
    super(`the feed API answered ${status} for the ${what}`);
    this.isRefusal = !TRANSIENT_STATUSES.has(status);
  }
}
