import { type FeedClient, FeedError } from '../client/feed-client.js';

/** How often it is looked whether a message was quicker. */
const LOOK_MS = 100;

/**
 * As `feed.changesAfter`, but a change need not wait for a feed that is slow to answer, or silent.
 * @param isHeard whether a message has brought the next change in the meantime.
 * @returns `heard`: it has, and the question was given up.
 */
export async function changesUnlessHeard(
  feed: FeedClient,
  revision: number,
  isHeard: () => boolean,
): Promise<Awaited<ReturnType<FeedClient['changesAfter']>> | 'heard'> {
  const heard = new AbortController();
  const look = setInterval(() => {
    if (isHeard()) heard.abort(new FeedError('a message was quicker'));
  }, LOOK_MS);
  try {
    return await feed.changesAfter(revision, heard.signal);
  } catch (error) {
    if (heard.signal.aborted) return 'heard';
    throw error;
  } finally {
    clearInterval(look);
  }
}
