export { CatalogueImages } from './client/catalogue-images.js';
export { ImageFollower, type MissingImage } from './client/image-follower.js';
export { FeedClient } from './client/feed-client.js';
export { createFeedServer, type FeedSource, type LogPage } from './server/feed-server.js';
export type { StoredImage } from './server/image-response.js';
export { type Deployment, redisNames } from './protocol/deployment.js';
export type { Refusal } from './protocol/message-verifier.js';
export { Follower } from './follower/follower.js';
export type { BuiltConfiguration, FollowerTarget } from './follower/persisted-configuration.js';
export { SnapshotDisk } from './disk/snapshot-disk.js';
export type { Applied } from './publisher/resolver-positions.js';
export {
  FOLLOWER_KINDS,
  type FollowerKind,
  type FollowerState,
  type Position,
  type PublishedChange,
  type SnapshotPart,
} from './protocol/protocol.js';
export { ChangePublisher } from './publisher/publisher.js';
export { logOutages } from './redis/redis.js';
export type { FeedLogger } from './runtime/feed-logger.js';
