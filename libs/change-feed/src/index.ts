export { CatalogueImages, type ImageCounters } from './client/catalogue-images.js';
export { ImageFollower, type MissingImage } from './client/image-follower.js';
export { FeedClient } from './client/feed-client.js';
export { type LoggedChange, toLoggedChange } from './protocol/changes.js';
export { type FeedDownloads, feedDownloads } from './server/download-pool.js';
export { createFeedServer, type FeedSource, type LogPage } from './server/feed-server.js';
export {
  type Deployment,
  DeploymentMessages,
  redisNames,
  type Refusal,
} from './protocol/signed-messages.js';
export { type ImageDelta, DeltaCache } from './server/delta-cache.js';
export { SnapshotCache, type SnapshotSource, STALE_WINDOWS } from './server/snapshot-cache.js';
export type { StoredBytes } from './server/cached-file.js';
export type { FollowerTracer } from './follower/change-spans.js';
export { Follower, type FollowerReport } from './follower/follower.js';
export type { BuiltConfiguration, FollowerTarget } from './follower/persisted-configuration.js';
export { ConfigurationStore } from './disk/configuration-store.js';
export type { Applied } from './publisher/acknowledgements.js';
export {
  FOLLOWER_KINDS,
  type FollowerKind,
  type FollowerState,
  type Position,
  type PublishedChange,
  type ResolverStatus,
  type SnapshotPart,
  type Traced,
  UPSTREAM_STATES,
} from './protocol/protocol.js';
export { ChangePublisher } from './publisher/change-publisher.js';
export type { KnownResolver } from './publisher/follower-registry.js';
export { endsWithin, type FeedLogger, Yielder } from './runtime/runtime.js';
