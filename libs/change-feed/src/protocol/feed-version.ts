import { RowError } from '@weir/config-model';

/**
 * Version of the feed protocol: snapshots, changes, heads, and the lines of a snapshot on disk. It is raised with
 * every change that a reader of the version before would not understand (README, Versions).
 */
export const FEED_VERSION = 1;

/** Header with the feed version: in a request the version that is wanted, in a response the version that it has. */
export const FEED_VERSION_HEADER = 'Weir-Feed-Version';

/** The version of a message that does not name one. */
export const FIRST_FEED_VERSION = 1;

/** A message has another version than this process reads. */
export class FeedVersionError extends RowError {
  constructor(readonly version: number) {
    super(`of feed version ${version}; this process reads version ${FEED_VERSION}`);
  }
}

/** The version that a message or header names. @throws RowError when it is not an integer from 1. */
export function feedVersionOf(said: unknown): number {
  if (said === undefined || said === null) return FIRST_FEED_VERSION;
  const version = typeof said === 'string' && /^\d{1,9}$/.test(said) ? Number(said) : said;
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw new RowError('a feed version is an integer from 1');
  }
  return version as number;
}

/** @throws FeedVersionError when this process does not read the version. */
export function expectFeedVersion(said: unknown): void {
  const version = feedVersionOf(said);
  if (version !== FEED_VERSION) throw new FeedVersionError(version);
}
