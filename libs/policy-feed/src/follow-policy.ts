import { buildImage } from '@weir/catalogue/delta';
import { CatalogueImage } from '@weir/catalogue/image';
import {
  CatalogueImages,
  FeedClient,
  type FeedLogger,
  Follower,
  type FollowerKind,
  type FollowerTracer,
  ImageFollower,
  ConfigurationStore,
  type ResolverStatus,
} from '@weir/change-feed';
import { parseHashKey } from '@weir/dns-name';
import { ChunkMemory, sharedBytes } from '@weir/policy';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { openFeedAccess } from './feed-access.js';
import { type FeedState, whatIsDegraded, whyNotReady } from './feed-state.js';
import type { FeedConfiguration } from './variables.js';
import { PolicyTarget } from './policy-target.js';

interface FollowPolicyOptions {
  readonly kind: FollowerKind;
  /** Under which the control plane knows the process. Default: the name of the host and a random part. */
  readonly name?: string | undefined;
  readonly configuration: FeedConfiguration;
  readonly log: FeedLogger;
  /** Most threads that read the policy through `target.writer`; 0 unless given. */
  readonly readers?: number;
  /** Asks the system for huge pages: for memory of policies and of catalogue images, before it is written. */
  readonly adviseHugePages?: (bytes: Uint8Array) => void;
  readonly tracer?: FollowerTracer | undefined;
  /** Called before the control plane is told what is in force. */
  readonly onAcknowledge?: () => void;
  /** What else the process tells with its lease. */
  readonly status?: () => OwnStatus | undefined;
}

/** What a resolver knows without the thread of its feed. */
export type OwnStatus = Omit<ResolverStatus, 'catalogue'>;

/** The policy in force in this process, and the follower that keeps it up to date. */
export interface FollowedPolicy {
  readonly target: PolicyTarget;
  /** The caller starts and stops it. */
  readonly follower: Follower;
  /** Why the process cannot decide queries or requests yet; null when it can. */
  readonly notReady: () => string | null;
  /** What does not work as it should although the process is ready. One text for each. */
  readonly degraded: () => readonly string[];
  readonly state: () => FeedState;
}

/** Creates a follower whose target is the policy. It connects to nothing before `follower.start()`. */
export function followPolicy({
  kind,
  name,
  configuration,
  log,
  readers = 0,
  adviseHugePages,
  tracer,
  onAcknowledge,
  status,
}: FollowPolicyOptions): FollowedPolicy {
  const key = parseHashKey(configuration.DOMAIN_HASH_KEY);
  const { deployment, tls } = openFeedAccess(configuration, log);
  const feed = new FeedClient(
    configuration.FEED_URL,
    () => deployment.tokens()[0],
    undefined,
    tls === null ? undefined : () => tls.value,
  );
  const { DATA_DIR: dataDir } = configuration;
  const disk = dataDir === undefined ? undefined : new ConfigurationStore({ folder: dataDir, log });
  const images = new CatalogueImages(feed, disk, log, {
    allocate: (length) => {
      const bytes = sharedBytes(length);
      adviseHugePages?.(bytes);
      return bytes;
    },
    buildImage,
  });
  const catalogues = new ImageFollower({
    images,
    // Its sha256 has been verified.
    use: (image): Promise<void> =>
      target.useCatalogue(image && CatalogueImage.open(image, key, { checksumVerified: true })),
    log,
  });
  const timeZone = configuration.SCHEDULE_TIMEZONE;
  const memory = new ChunkMemory(adviseHugePages);
  const target: PolicyTarget = new PolicyTarget({ timeZone, readers, memory }, catalogues);
  const follower = new Follower({
    id: `${hostname()}-${process.pid}-${randomUUID()}`,
    kind,
    name,
    redisUrl: configuration.REDIS_URL,
    deployment,
    feed,
    target,
    ...(disk !== undefined && { disk }),
    tracer,
    onAcknowledge,
    status: () => {
      const own = status?.();
      return own && { ...own, catalogue: catalogues.version };
    },
    log,
  });
  const state = (): FeedState => ({
    ...follower.report,
    missingImage: catalogues.missing,
    imageFailures: catalogues.failures,
    imageCounters: catalogues.counters,
    // A policy that names a catalogue decides nothing before there is an image.
    hasCatalogue: (target.policy?.catalogue ?? null) !== null,
    fileFaults: { FEED_TOKENS_FILE: deployment.tokenFileFaults(), FEED_CA: tls?.faults ?? 0 },
  });
  return {
    target,
    follower,
    notReady: () => whyNotReady(state(), configuration.CATCH_UP_GRACE_MS),
    degraded: () => whatIsDegraded(state()),
    state,
  };
}
