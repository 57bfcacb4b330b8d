import { type FeedClient, FeedError } from '../client/feed-client.js';

/** How often `isOvertaken` is asked. */
const POLL_MS = 100;

/**
 * As `feed.changesAfter`, but gives up as soon as the next change has arrived from Redis: a change must not wait for a
 * slow feed API.
 * @param isOvertaken whether the next change has arrived meanwhile.
 * @returns `overtaken` if the request was given up.
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
