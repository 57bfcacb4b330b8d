import type { HashKey } from '@weir/dns-name';
import type { CidrSet, UpstreamEndpoint } from '@weir/ops';
import type { UdpSocketHandle } from '@weir/udp-batch';
import type { MessagePort } from 'node:worker_threads';
import type { CacheMemory } from '../cache/cache-memory.js';
import type { SetTimes } from '../clocks.js';
import type { SentConfiguration } from '../configuration.js';
import type { ForwardingLimits } from '../create-forwarder.js';
import type { LimitsMemory } from '../limits/client-limits.js';
import type { LocalRecord } from '@weir/policy/answers';
import type { ThreadCounts } from '../metrics/thread-counts.js';

/** Words by which the main thread and one lane tell each other what they do. */
export const LaneWord = {
  /** What the lane is to do: a `LaneOrder`. */
  order: 0,
  /** The order that it has carried out. */
  done: 1,
  /** Counts its turns: a lane that hangs makes none. */
  turns: 2,
  /** Counts the messages that were sent to it. */
  sent: 3,
  /** 1 while the resolver is ready. */
  ready: 4,
  /** Its number among the threads of the system. */
  threadId: 5,
  /** The errno with which it cannot receive; 0 while it can. */
  errno: 6,
  /** See `postLines`. */
  postedLines: 7,
} as const;
export const LANE_WORDS = 16;

export const LaneOrder = {
  run: 0,
  /** To answer what has arrived, then to drop what arrives. */
  drain: 1,
  /** The same, then to end. */
  stop: 2,
} as const;
export type LaneOrder = (typeof LaneOrder)[keyof typeof LaneOrder];

/** What all lanes have in common. */
export interface SharedTask {
  readonly configuration: SentConfiguration;
  readonly upstreams: readonly UpstreamEndpoint[];
  readonly forwarding: ForwardingLimits | undefined;
  readonly hashKey: HashKey;
  readonly cookieSecrets: readonly HashKey[];
  /** Of `SubscriberKey`. */
  readonly subscriberSalt: number;
  readonly limits: LimitsMemory;
  /** The main thread has number 0 in it, and each lane the one after its own. */
  readonly cache: CacheMemory;
  readonly profileRows: { readonly capacity: number; readonly memory: SharedArrayBuffer } | null;
  /** The same moment on the clocks of the process and of the main thread. */
  readonly clock: { readonly hrtimeNs: bigint; readonly monotonicMs: number };
  /** Times in place of the real ones. */
  readonly times: SetTimes | undefined;
  readonly loadBalancers: CidrSet;
  /** One word: how many lanes get queries. */
  readonly awake: Int32Array;
  /** Whether lanes that the load does not need get no queries. */
  readonly parks: boolean;
}

/** What the main thread may replace while the lane runs. */
export interface LaneFiles {
  readonly allowedClients?: CidrSet;
  readonly localRecords?: readonly LocalRecord[];
}

/** What a lane starts with. All of it can be sent to its thread. */
export interface LaneTask extends SharedTask, LaneFiles {
  /** From 0. */
  readonly number: number;
  /** How many lanes there are. */
  readonly lanes: number;
  readonly sockets: readonly UdpSocketHandle[];
  readonly words: Int32Array;
  readonly counts: ThreadCounts;
  /** See `LaneCounts`. */
  readonly turns: Float64Array;
  /** For its `ReadPolicy`. */
  readonly policyPort: MessagePort;
  /** `LaneFiles`, as many as `LaneWord.sent` says. */
  readonly port: MessagePort;
}

/** What a lane tells. */
export type LaneReport =
  | { readonly type: 'running' }
  /** That many lines of the query log. */
  | { readonly type: 'lines'; readonly lines: string; readonly count: number }
  | { readonly type: 'defect'; readonly error: unknown }
  /** The kernel does not change which lanes get queries. */
  | { readonly type: 'refused'; readonly error: unknown };
