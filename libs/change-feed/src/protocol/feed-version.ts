import { RowError } from '@weir/config-model';

/**
 * Version of what both ends of the feed say to each other: snapshots, changes, heads, and the lines of a snapshot on
 * disk. It is raised with every change that a reader of the one before would not understand (README, Versions).
 */
export const FEED_VERSION = 1;

/** Header of each request to the feed API, which version is wanted, and of each answer, which one it is. */
export const FEED_VERSION_HEADER = 'Weir-Feed-Version';

/** What is spoken by who does not say a version. */
export const FIRST_FEED_VERSION = 1;

/** A message of another version than this process reads. */
export class FeedVersionError extends RowError {
  constructor(readonly version: number) {
    super(`of feed version ${version}; this process reads version ${FEED_VERSION}`);
  }
}

/** The version that a message or a header says it is of. @throws RowError when that is no version. */
export function feedVersionOf(said: unknown): number {
  if (said === undefined || said === null) return FIRST_FEED_VERSION;
  const version = typeof said === 'string' && /^\d{1,9}$/.test(said) ? Number(said) : said;
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw new RowError('a feed version is an integer from 1');
  }
  return version as number;
}

/** @throws FeedVersionError when the version is not the one that this process reads. */
export function expectFeedVersion(said: unknown): void {
  const version = feedVersionOf(said);
  if (version !== FEED_VERSION) throw new FeedVersionError(version);
}
