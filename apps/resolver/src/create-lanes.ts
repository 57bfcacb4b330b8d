import type { HashKey } from '@weir/dns-name';
import { parseCidrs, type UpstreamEndpoint } from '@weir/ops';
import { availableParallelism } from 'node:os';
import type { SetTimes } from './clocks.js';
import type { DnsConfiguration } from './configuration.js';
import type { CacheMemory } from './cache/cache-memory.js';
import { MAX_THREADS } from './configuration/listener-variables.js';
import type { ForwardingLimits } from './create-forwarder.js';
import { Lanes, type LanesOptions } from './lanes/lanes.js';
import type { ClientLimits } from './limits/client-limits.js';
import type { ProfileRows } from './metrics/profile-counters.js';

/** How many lanes there are. By default one for each core but one, which is for the main thread. */
export function laneCount({ RESOLVER_THREADS: wanted }: DnsConfiguration): number {
  return wanted ?? Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1));
}

type LaneParts = Omit<LanesOptions, 'task'> & {
  readonly hashKey: HashKey;
  readonly cookieSecrets: readonly HashKey[];
  readonly subscriberSalt: number;
  /** Of the main thread: they hold for all threads together. */
  readonly limits: ClientLimits;
  readonly cache: CacheMemory;
  readonly profileRows: ProfileRows | null;
  readonly times: SetTimes | undefined;
  readonly upstreams: readonly UpstreamEndpoint[];
  readonly forwarding: ForwardingLimits | undefined;
};

export function createLanes(configuration: DnsConfiguration, parts: LaneParts): Lanes {
  const { hashKey, cookieSecrets, subscriberSalt, limits, cache, profileRows, ...others } = parts;
  const { times, upstreams, forwarding, ...options } = others;
  return new Lanes({
    ...options,
    task: {
      ...{ configuration, hashKey, cookieSecrets, subscriberSalt, times },
      ...{ upstreams, forwarding, cache },
      limits: limits.memory,
      profileRows: profileRows && { capacity: profileRows.capacity, memory: profileRows.memory },
      clock: { hrtimeNs: process.hrtime.bigint(), monotonicMs: performance.now() },
      loadBalancers: configuration.DNS_PROXY_PROTOCOL_FROM ?? parseCidrs([]),
    },
  });
}
