export { CatalogueImages } from './catalogue-images.js';
export { FeedClient } from './feed-client.js';
export { createFeedServer, type FeedSource, type LogPage } from './feed-server.js';
export type { StoredImage } from './image-answer.js';
export { Follower } from './follower.js';
export type { BuiltConfiguration, FollowerTarget } from './kept-configuration.js';
export { SnapshotDisk } from './snapshot-disk.js';
export type { Applied } from './follower-registry.js';
export {
  FOLLOWER_KINDS,
  type FollowerKind,
  type FollowerState,
  type Position,
  type PublishedChange,
  redisNames,
  type SnapshotPart,
} from './protocol.js';
export { ChangePublisher } from './publisher.js';
export { type FeedLogger, logOutages } from './redis.js';
