import { CatalogueImage } from '@weir/catalogue';
import { CatalogueImages, FeedClient, Follower, SnapshotDisk } from '@weir/change-feed';
import { parseHashKey } from '@weir/dns-name';
import {
  type Endpoint,
  explainListenError,
  type Logger,
  StartError,
  startOpsServer,
} from '@weir/ops';
import { randomUUID } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { ResolverConfiguration } from './configuration.js';
import { DnsService } from './dns-service.js';
import { PolicyTarget } from './feed/policy-target.js';
import type { Bound } from './listeners/listeners.js';
import { createRegistry } from './metrics/registry.js';
import { findOwnAddress } from './upstream/own-address.js';

export interface Resolver {
  /** Where DNS is answered. */
  readonly dns: Bound;
  readonly opsPort: number;
  /** Resolves when the first configuration is in force and at the head. */
  readonly ready: Promise<void>;
  /** Says goodbye to the control plane, answers what is in flight, closes. */
  stop(): Promise<void>;
}

/**
 * Starts a resolver: first everything that must listen, so that a port that is taken shows at once, then the feed. Until the first
 * snapshot is in force queries are answered SERVFAIL and `/readyz` says so.
 * @throws StartError when a port is taken, or an upstream is this resolver itself.
 */
export async function startResolver(
  configuration: ResolverConfiguration,
  upstreams: readonly Endpoint[],
  log: Logger,
): Promise<Resolver> {
  refuseOwnAddress(configuration, upstreams);
  const key = parseHashKey(configuration.DOMAIN_HASH_KEY);
  const feed = new FeedClient(configuration.FEED_URL, configuration.FEED_TOKEN);
  const { DATA_DIR: dataDir } = configuration;
  const images = new CatalogueImages(feed, dataDir, log);
  const target = new PolicyTarget({
    timeZone: configuration.SCHEDULE_TIMEZONE,
    // The image has its sha256, so its checksum needs no second look.
    openCatalogue: async (catalogue) =>
      CatalogueImage.open(await images.load(catalogue), key, { checksumVerified: true }),
  });
  const follower = new Follower({
    id: `${hostname()}-${process.pid}-${randomUUID()}`,
    kind: 'resolver',
    redisUrl: configuration.REDIS_URL,
    feed,
    target,
    ...(dataDir !== undefined && { disk: new SnapshotDisk(dataDir, log) }),
    log,
  });
  const service = new DnsService({ configuration, upstreams, source: target, log });
  const dns = await service.start();
  let stopping = false;
  const notReady = (): string | null => {
    if (stopping) return 'stopping';
    if (target.policy === null) return 'no configuration yet';
    return target.policy.counts().catalogue === 0 ? 'no catalogue yet' : null;
  };
  const registry = createRegistry({
    queries: service.counters,
    latencies: service.latencies,
    limits: service.limits,
    cache: service.cache,
    queryLog: service.queryLog,
    forwarder: service.forwarder,
    follower,
  });
  const ops = await startOps(configuration, notReady, registry).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  return {
    dns,
    opsPort: ops.port,
    ready: follower.start(),
    stop: async () => {
      stopping = true;
      // First no write waits for this resolver any more; then the queries.
      await follower.stop();
      await service.stop();
      await ops.close();
    },
  };
}

function refuseOwnAddress(
  { DNS_HOST: address, DNS_PORT: port }: ResolverConfiguration,
  upstreams: readonly Endpoint[],
): void {
  const machine = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const addresses = machine.map((one) => one.address);
  const own = findOwnAddress(upstreams, { address, port }, addresses);
  if (own === undefined) return;
  throw new StartError(
    `${own.address} port ${own.port} is where this resolver itself listens: it cannot ask itself (UPSTREAMS)`,
  );
}

async function startOps(
  configuration: ResolverConfiguration,
  notReady: () => string | null,
  registry: Parameters<typeof startOpsServer>[0]['registry'],
): ReturnType<typeof startOpsServer> {
  const [host, port] = [configuration.DNS_HOST, configuration.OPS_PORT];
  try {
    return await startOpsServer({ host, port, notReady, registry });
  } catch (error) {
    throw explainListenError(error, { host, port, variable: 'OPS_PORT' });
  }
}
