import { CatalogueError } from '../catalogue-error.js';
import type { ByteStream, ListFormat } from '../lists/list.js';

/** A file or folder, an http(s) URL, credentials included, or an rpz URL, see `parseTransferUrl`. */
export type SourceLocation = { readonly path: string } | { readonly url: string };

/** A list that can be opened. */
export interface Source {
  readonly location: SourceLocation;
  /** Other URLs of the same list, in the order in which they are tried after `location`. */
  readonly mirrors: readonly SourceLocation[];
  readonly format: ListFormat;
  /** Of format `dlc`: which of its lists, see `resolveDlc`; null of other formats. */
  readonly list: string | null;
  /** The only digest that its bytes may have, 64 lower-case hex digits; null: any. */
  readonly sha256: string | null;
}

export interface OpenOptions {
  /** The values that `openSource` returned for the known version. If that is still current, nothing is read. */
  readonly etag?: string | null;
  readonly lastModified?: string | null;
  /** Longest time until the last byte. */
  readonly timeoutMs: number;
  /** Longest time without a byte; half a minute by default. */
  readonly idleTimeoutMs?: number;
  readonly maxBytes: number;
  /** Whether a redirect may lead from https to http: the digest of the list is known. */
  readonly isPinned?: boolean;
  /** Whether the changes of a zone since the version of `etag` are as good as the whole. */
  readonly takesChanges?: boolean;
  /** Keys for zone transfers, as `TSIG_KEY`. */
  readonly tsigKeys?: readonly string[];
  readonly signal?: AbortSignal;
}

/** A source that has not changed, or its bytes. */
export type OpenedSource =
  | { readonly status: 'unchanged' }
  | {
      readonly status: 'opened';
      /** Can be read once. Throws CatalogueError when it is incomplete, too slow or too large. */
      readonly body: ByteStream;
      /** Of a zone: only right when the body has been read. */
      readonly etag: string | null;
      readonly lastModified: string | null;
      /** What the body is of a zone; undefined: it is of another source. */
      readonly transfer?: Transfer;
    };

/** How a zone is transferred: its changes (IXFR) or the whole. */
export interface Transfer {
  readonly isIncremental: boolean;
  /** Why it is the whole although changes were asked for; null: they were not. */
  readonly problem: string | null;
}

const IDLE_TIMEOUT_MS = 30_000;

/** Aborts a request at its total timeout, at its idle timeout, or when its caller aborts. */
export class Timeouts {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly idleMs: number;
  private readonly total: NodeJS.Timeout;
  private idle: NodeJS.Timeout | undefined;

  constructor({ timeoutMs, idleTimeoutMs = IDLE_TIMEOUT_MS, signal }: OpenOptions) {
    this.signal = AbortSignal.any([this.controller.signal, ...(signal ? [signal] : [])]);
    this.idleMs = idleTimeoutMs;
    this.total = this.after(timeoutMs, 'did not end');
    this.restartIdle();
  }

  /** Restarts the idle timeout: call it for each chunk. */
  restartIdle(): void {
    clearTimeout(this.idle);
    this.idle = this.after(this.idleMs, 'sent nothing');
  }

  /** Stops the timeouts, and closes the connection if the body was not read to its end. */
  end(): void {
    clearTimeout(this.total);
    clearTimeout(this.idle);
    this.controller.abort();
  }

  private after(ms: number, problem: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.controller.abort(new CatalogueError(`${problem} within ${ms / 1000} s`));
    }, ms);
  }
}
