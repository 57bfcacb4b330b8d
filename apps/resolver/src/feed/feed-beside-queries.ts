import type { FeedLogger, FollowerTracer } from '@weir/change-feed';
import { followPolicy } from '@weir/policy-feed';
import type { FeedConfiguration } from '@weir/policy-feed/state';
import { ShareReaders } from '../shared-policy/policy-readers.js';
import type { Feed } from './feed.js';

export interface OwnFeedOptions {
  readonly configuration: FeedConfiguration;
  /** Of the resolver. */
  readonly name: string;
  readonly tracer: FollowerTracer | undefined;
  readonly log: FeedLogger;
}

/**
 * The feed in the thread that answers queries.
 * @throws StartError when a file of the feed is not usable
 */
export function feedBesideQueries({ configuration, name, tracer, log }: OwnFeedOptions): Feed {
  const { target, follower, state } = followPolicy({
    kind: 'resolver',
    name,
    configuration,
    log,
    tracer,
  });
  let isStarted = false;
  return {
    source: target,
    readers: new ShareReaders(target.share),
    threadId: 0,
    state,
    lost: new Promise(() => undefined),
    start: () => {
      isStarted = true;
      return follower.start();
    },
    stop: async () => {
      if (isStarted) await follower.stop();
    },
  };
}
