import {
  type Logger,
  type Service,
  StartError,
  stopAndThrow,
  stopInOrder,
  type UpstreamEndpoint,
} from '@weir/ops';
import { OpsCalls, OpsServer } from '@weir/ops/metrics';
import { openFeedAccess, whatIsDegraded, whyNotReady } from '@weir/policy-feed/state';
import { openTelemetry, type Telemetry } from '@weir/telemetry';
import { loadSystemCalls, returnFreedBlocks } from '@weir/udp-batch';
import { hostname } from 'node:os';
import type { ResolverConfiguration } from './configuration.js';
import { createRegistry } from './create-registry.js';
import { checkDnsFiles, countLanes, DnsService } from './dns-service.js';
import { FeedThread } from './feed/feed-thread.js';
import { flushCall } from './flush/cache-flush.js';
import type { BoundAddresses } from './listeners/listening-sockets.js';
import { StatusReport } from './status-report.js';
import { machineAddresses, findOwnAddress } from './upstream/own-address.js';

/** Time between two reports to the control plane of how this resolver does. */
const STATUS_MS = 2_000;

export interface Resolver extends Service {
  /** The addresses on which queries are answered. */
  readonly dns: BoundAddresses;
  readonly opsPort: number;
  /** Resolves when the first configuration is in force and up to date. */
  readonly ready: Promise<void>;
  /** Rejects when the resolver cannot go on. */
  readonly lost: Promise<never>;
}

/** @throws StartError, as `startResolver`, when an upstream or a file that the configuration names is not usable */
export function checkStart(
  configuration: ResolverConfiguration,
  upstreams: readonly UpstreamEndpoint[],
  log: Logger,
): void {
  refuseOwnAddress(configuration, upstreams);
  openFeedAccess(configuration, log);
  checkDnsFiles({ configuration, upstreams, log });
}

/**
 * Starts a resolver: first health and metrics, then all listeners, so that a port that is taken shows at once, then the
 * feed. Until the first snapshot is in force, queries are answered with SERVFAIL and `/readyz` reports not ready.
 * @throws StartError when a port is taken, an upstream is this resolver itself, or the system has no batches of packets
 */
export async function startResolver(
  configuration: ResolverConfiguration,
  upstreams: readonly UpstreamEndpoint[],
  log: Logger,
): Promise<Resolver> {
  refuseSystemWithoutBatches();
  returnFreedBlocks();
  refuseOwnAddress(configuration, upstreams);
  const { OPS_HOST: host, OPS_PORT: port } = configuration;
  const ops = await OpsServer.start({ host, port, log });
  const started = [() => ops.close()];
  try {
    const telemetry = await openTelemetry({ process: 'resolver', configuration, log });
    const name = configuration.RESOLVER_NAME ?? `${hostname()}:${configuration.DNS_PORT}`;
    const { all: lanes } = countLanes(configuration);
    const feed = await FeedThread.open({ configuration, name, lanes, log });
    started.unshift(() => feed.stop());
    return await serve(configuration, upstreams, log, { ops, feed, telemetry });
  } catch (error) {
    return stopAndThrow(error, started, log);
  }
}

interface Started {
  readonly ops: OpsServer;
  readonly feed: FeedThread;
  readonly telemetry: Telemetry | null;
}

async function serve(
  configuration: ResolverConfiguration,
  upstreams: readonly UpstreamEndpoint[],
  log: Logger,
  { ops, feed, telemetry }: Started,
): Promise<Resolver> {
  let isDraining = false;
  const notReady = (): string | null => whyNotReady(feed.state(), configuration.CATCH_UP_GRACE_MS);
  const isReady = (): boolean => !isDraining && notReady() === null;
  const service = new DnsService({
    ...{ configuration, upstreams, log, isReady },
    readers: feed.readers,
  });
  const dns = await Promise.race([service.start(), feed.lost]);
  const registry = createRegistry(service, feed);
  const { cache } = service;
  const { OPS_TOKENS: tokens, CACHE_NXDOMAIN_CUT: hasNxDomainCut } = configuration;
  const calls = new OpsCalls(tokens, {
    '/cache/flush': flushCall({ cache, hasNxDomainCut, log }),
  });
  const degraded = (): readonly string[] => [
    ...whatIsDegraded(feed.state()),
    ...service.lanes.degraded,
  ];
  ops.serve({ notReady, degraded, registry, calls });
  telemetry?.exportMetrics(registry);
  const status = new StatusReport(dns, service);
  const tellStatus = (): void => feed.tell(status.read(performance.now()));
  const statusTimer = setInterval(tellStatus, STATUS_MS);
  tellStatus();
  const drain = (): void => {
    isDraining = true;
    service.lanes.tellReady();
    ops.drain();
  };
  return {
    dns,
    opsPort: ops.port,
    ready: feed.start().then(() => service.lanes.tellReady()),
    lost: Promise.race([feed.lost, service.lanes.lost]),
    drain,
    stop: async () => {
      drain();
      clearInterval(statusTimer);
      // Follow the feed until the last answer is out: every acknowledged change must apply to it. Until then
      // writes wait for this resolver.
      await stopInOrder([
        () => service.stop(),
        () => feed.stop(),
        () => telemetry?.stop(),
        () => ops.close(),
      ]);
    },
  };
}

function refuseSystemWithoutBatches(): void {
  try {
    loadSystemCalls();
  } catch (error) {
    const { message } = error as Error;
    throw new StartError(`a resolver needs Linux on x64 or arm64, with recvmmsg: ${message}`);
  }
}

function refuseOwnAddress(
  { DNS_HOST: hosts, DNS_PORT: port, DNS_TLS_PORT: tlsPort }: ResolverConfiguration,
  upstreams: readonly UpstreamEndpoint[],
): void {
  const addresses = machineAddresses();
  const own = hosts
    .map((address) => findOwnAddress(upstreams, { address, port, tlsPort }, addresses))
    .find((one) => one !== undefined);
  if (own === undefined) return;
  throw new StartError(
    `UPSTREAMS: ${own.address} port ${own.port} is the address of this resolver itself`,
  );
}
