import { type FeedClient, FeedError } from '../client/feed-client.js';

/** How often it is looked whether a message was quicker. */
const POLL_MS = 100;

/**
 * As `feed.changesAfter`, but a change need not wait for a feed that is slow to answer, or silent.
 * @param isOvertaken whether a message has brought the next change in the meantime.
 * @returns `overtaken`: it has, and the request was given up.
 */
export async function fetchChanges(
  feed: FeedClient,
  revision: number,
  isOvertaken: () => boolean,
): Promise<Awaited<ReturnType<FeedClient['changesAfter']>> | 'overtaken'> {
  const overtaken = new AbortController();
  const poll = setInterval(() => {
    if (isOvertaken()) overtaken.abort(new FeedError('a message was quicker'));
  }, POLL_MS);
  try {
    return await feed.changesAfter(revision, overtaken.signal);
  } catch (error) {
    if (overtaken.signal.aborted) return 'overtaken';
    throw error;
  } finally {
    clearInterval(poll);
  }
}
