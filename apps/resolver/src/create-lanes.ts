import type { HashKey } from '@weir/dns-name';
import { parseCidrs } from '@weir/ops';
import { availableParallelism } from 'node:os';
import type { SetTimes } from './clocks.js';
import type { DnsConfiguration } from './configuration.js';
import { MAX_THREADS } from './configuration/listener-variables.js';
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
  readonly profileRows: ProfileRows | null;
  /** Whether the main thread logs every answer. */
  readonly logsAnswers: boolean;
  readonly times: SetTimes | undefined;
};

export function createLanes(configuration: DnsConfiguration, parts: LaneParts): Lanes {
  const { hashKey, cookieSecrets, subscriberSalt, limits, profileRows, times, ...others } = parts;
  const { logsAnswers: handsOverAll, ...options } = others;
  return new Lanes({
    ...options,
    task: {
      ...{ configuration, hashKey, cookieSecrets, subscriberSalt, times, handsOverAll },
      limits: limits.memory,
      profileRows: profileRows && { capacity: profileRows.capacity, memory: profileRows.memory },
      clock: { hrtimeNs: process.hrtime.bigint(), monotonicMs: performance.now() },
      loadBalancers: configuration.DNS_PROXY_PROTOCOL_FROM ?? parseCidrs([]),
      wake: new Int32Array(new SharedArrayBuffer(4)),
      mainTurns: new Int32Array(new SharedArrayBuffer(4)),
    },
  });
}
