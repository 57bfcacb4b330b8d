import { openDeployment, type OpenDeployment, openTlsAgent, type WatchedFilesLog } from '@weir/ops';
import type { FeedConfiguration } from './variables.js';

interface FeedAccess {
  readonly deployment: OpenDeployment;
  readonly tls: ReturnType<typeof openTlsAgent>;
}

/** How a process and the feed API prove who they are. @throws StartError when a file is not usable */
export function openFeedAccess(configuration: FeedConfiguration, log: WatchedFilesLog): FeedAccess {
  const { FEED_URL: url, FEED_CA: ca, FEED_PINS: pins } = configuration;
  return {
    deployment: openDeployment(configuration, log),
    tls: openTlsAgent({ prefix: 'FEED', url, ca, pins, log }),
  };
}
