import { FEED_VERSION } from '../protocol/feed-version.js';

/** Statuses for `try again later`, from the feed API or a proxy (RFC 9110 §15, RFC 6585 §4, RFC 8470 §5.2). */
const TRANSIENT_STATUSES = new Set([408, 425, 429, 502, 503, 504]);
/** Longest pause that an answer can ask for. */
const MAX_RETRY_AFTER_S = 600;

/** A request to the feed API failed. */
export class FeedError extends Error {
  override readonly name: string = 'FeedError';
  /**
   * Whether the same request will fail again. False: the API is unreachable, busy or slow now, and may answer
   * later.
   */
  readonly isRefusal: boolean = false;
  /** The least pause before the same request, as the API asks for; 0: it says nothing. */
  readonly retryAfterMs: number = 0;
}

export class IdleTimeoutError extends FeedError {
  constructor(what: string) {
    super(`the feed API sent nothing for too long (${what})`);
  }
}

/** Worth a retry: during an upgrade another replica of the control plane may answer the next request. */
export class VersionError extends FeedError {
  constructor(version: string) {
    super(
      `the feed API speaks version ${version.slice(0, 20)} of the feed, ` +
        `this process version ${FEED_VERSION}; what is in force stays`,
    );
  }
}

export class StatusError extends FeedError {
  override readonly isRefusal: boolean;
  override readonly retryAfterMs: number;

  constructor(
    readonly status: number,
    what: string,
    retryAfter: string | null = null,
  ) {
    super(`the feed API answered ${status} for the ${what}`);
    this.isRefusal = !TRANSIENT_STATUSES.has(status);
    this.retryAfterMs = this.isRefusal ? 0 : retryAfterMs(retryAfter, Math.random());
  }
}

/**
 * The pause that a Retry-After header asks for (RFC 9110 §10.2.3), and up to a second more, because it is in whole
 * seconds and others were told the same. A date is ignored.
 */
export function retryAfterMs(header: string | null, random: number): number {
  if (header === null || !/^\d{1,9}$/.test(header)) return 0;
  return (Math.min(Number(header), MAX_RETRY_AFTER_S) + random) * 1000;
}
