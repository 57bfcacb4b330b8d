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

/** @throws FeedVersionError when the message has another feed version; RowError when it has none or is not JSON. */
export function parseMessage(text: string): unknown {
  const value = parseJson(text);
  const version = feedVersionOf(value);
  if (version !== FEED_VERSION) throw new FeedVersionError(version);
  return value;
}

/** @throws RowError when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RowError('not JSON', { cause: error });
  }
}
