import type { Logger } from '@weir/ops';
import type { Tracer } from '@weir/telemetry';
import type { Feed } from './feed.js';
import type { FeedThreadConfiguration } from './feed-task.js';
import { FeedThread } from './feed-thread.js';

export interface OpenFeedOptions {
  readonly configuration: FeedThreadConfiguration;
  /** Of the resolver. */
  readonly name: string;
  /** How many there are. With any, the feed has a thread of its own, too. */
  readonly lanes: number;
  /** Of this thread. */
  readonly tracer: Tracer | undefined;
  readonly log: Logger;
}

/** @throws StartError when a file of the feed is not usable */
export async function openFeed(options: OpenFeedOptions): Promise<Feed> {
  if (options.lanes > 0) return FeedThread.open(options);
  // With a thread of its own, this one does not load the feed.
  const { feedBesideQueries } = await import('./feed-beside-queries.js');
  return feedBesideQueries(options);
}
