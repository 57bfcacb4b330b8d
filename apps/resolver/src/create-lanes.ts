import type { HashKey } from '@weir/dns-name';
import { CidrSet } from '@weir/ops';
import { loadSystemCalls, type SystemCalls } from '@weir/udp-batch';
import type { SetTimes } from './clocks.js';
import type { DnsConfiguration } from './configuration.js';
import { createAwakeWords } from './lanes/awake-lanes.js';
import { laneCount } from './lanes/lane-count.js';
import { laneConfiguration } from './lanes/lane-task.js';
import { Lanes, type LanesOptions } from './lanes/lanes.js';
import type { ClientLimits } from './limits/client-limits.js';
import type { ProfileRows } from './metrics/profile-counters.js';
import type { PolicyReaders } from './shared-policy/policy-readers.js';

/** What lanes need of the system and of the feed. */
export interface LaneSupport {
  readonly calls: SystemCalls;
  readonly readers: PolicyReaders;
  /** How many lanes there are. */
  readonly count: number;
}

/** @returns null when there are no lanes: this thread answers all queries. */
export function findLaneSupport(
  wanted: number | undefined,
  readers: PolicyReaders | undefined,
): LaneSupport | null {
  const calls = readers === undefined ? null : loadSystemCalls();
  if (readers === undefined || calls === null) return null;
  const count = laneCount(wanted);
  return count === 0 ? null : { calls, readers, count };
}

type LaneParts = Omit<LanesOptions, 'calls' | 'readers' | 'task' | 'checkMs' | 'parks'> & {
  readonly hashKey: HashKey;
  readonly cookieSecrets: readonly HashKey[];
  readonly subscriberSalt: number;
  /** Of the main thread: they hold for all threads together. */
  readonly limits: ClientLimits;
  readonly profileRows: ProfileRows | null;
  /** Whether the main thread logs every answer. */
  readonly logsAnswers: boolean;
  readonly times: SetTimes | undefined;
  readonly checkMs: number | undefined;
  readonly parks: boolean | undefined;
};

export function createLanes(
  configuration: DnsConfiguration,
  { calls, readers }: LaneSupport,
  parts: LaneParts,
): Lanes {
  const { hashKey, cookieSecrets, subscriberSalt, limits, profileRows, times } = parts;
  const { cache, sockets, files, isReady, handler, counters, onDefect, log, checkMs } = parts;
  return new Lanes({
    ...{ calls, readers, cache, sockets, files, isReady, handler, counters, onDefect, log },
    ...(checkMs !== undefined && { checkMs }),
    ...(parts.parks !== undefined && { parks: parts.parks }),
    task: {
      ...{ hashKey, cookieSecrets, subscriberSalt, times },
      configuration: laneConfiguration(configuration),
      limits: limits.memory,
      profileRows: profileRows && { capacity: profileRows.capacity, memory: profileRows.memory },
      handsOverAll: parts.logsAnswers,
      clock: { hrtimeNs: process.hrtime.bigint(), monotonicMs: performance.now() },
      loadBalancers: configuration.DNS_PROXY_PROTOCOL_FROM ?? CidrSet.parse([]),
      wake: new Int32Array(new SharedArrayBuffer(4)),
      mainTurns: new Int32Array(new SharedArrayBuffer(4)),
      awake: createAwakeWords(),
    },
  });
}
