import { decodeHead, type Head, RowError } from '@weir/config-model';
import { FEED_VERSION } from './feed-version.js';
import { parseMessage } from './message.js';

/** How many followers may publish every revision. More publish less often, so that their sum stays the same. */
const FOLLOWERS_PER_MS = 20;
/** Longest time between two acknowledgements of a follower while changes come. */
export const MAX_ACKNOWLEDGEMENT_INTERVAL_MS = 100;

/** What each replica publishes once a second. */
export interface HeadMessage {
  readonly head: Head;
  /** Least time between two acknowledgements of a follower. */
  readonly acknowledgementIntervalMs: number;
}

/** How often each of so many followers may acknowledge: a lone change at once, further ones after this time. */
export function acknowledgementIntervalMs(followers: number): number {
  return Math.min(MAX_ACKNOWLEDGEMENT_INTERVAL_MS, Math.floor(followers / FOLLOWERS_PER_MS));
}

export function renderHeadMessage({ head, acknowledgementIntervalMs }: HeadMessage): string {
  const { lineage, revision, digest } = head;
  return JSON.stringify({
    lineage,
    revision,
    digest,
    acknowledgementIntervalMs,
    feedVersion: FEED_VERSION,
  });
}

/** @throws FeedVersionError; RowError when the text is not a head. */
export function parseHeadMessage(text: string): HeadMessage {
  const value = parseMessage(text);
  const head = decodeHead(value);
  const { acknowledgementIntervalMs: ms } = value as { acknowledgementIntervalMs?: unknown };
  if (!(typeof ms === 'number' && ms >= 0 && ms <= MAX_ACKNOWLEDGEMENT_INTERVAL_MS)) {
    throw new RowError('an interval between acknowledgements is a number of milliseconds');
  }
  return { head, acknowledgementIntervalMs: ms };
}
