import { RowError } from '@weir/config-model';
import { FEED_VERSION, feedVersionOf, FeedVersionError } from './feed-version.js';

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
