import { RowError } from '@weir/config-model';

/**
 * Version of the feed protocol: snapshots, changes, heads, and the database on disk. It is raised with
 * every change that a reader of the version before would not understand (README, Versions).
 */
export const FEED_VERSION = 1;

/** Header with the feed version: in a request the version that is wanted, in a response the version that it has. */
export const FEED_VERSION_HEADER = 'Weir-Feed-Version';

/** A message has another version than this process reads. */
export class FeedVersionError extends RowError {
  constructor(readonly version: number) {
    super(`of feed version ${version}; this process reads version ${FEED_VERSION}`);
  }
}

/** The version that a message names. @throws RowError when it is not an integer from 1. */
export function feedVersionOf(message: unknown): number {
  const { feedVersion } = (message ?? {}) as { feedVersion?: unknown };
  if (!Number.isSafeInteger(feedVersion) || (feedVersion as number) < 1) {
    throw new RowError('a feed version is an integer from 1');
  }
  return feedVersion as number;
}
