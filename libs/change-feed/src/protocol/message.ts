import { RowError } from '@weir/config-model';
import { expectFeedVersion } from './feed-version.js';

/** @throws FeedVersionError when the message has another feed version; RowError when it is not JSON. */
export function parseMessage(text: string): unknown {
  const value = parseJson(text);
  expectFeedVersion((value as { feedVersion?: unknown } | null)?.feedVersion);
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
