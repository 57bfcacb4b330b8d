import type { HashKey } from '@weir/dns-name';
import type { CidrSet, UpstreamEndpoint } from '@weir/ops';
import type { UdpSocketHandle } from '@weir/udp-batch';
import type { MessagePort } from 'node:worker_threads';
import type { CacheMemory } from '../cache/cache-memory.js';
import type { SetTimes } from '../clocks.js';
import type { SentConfiguration } from '../configuration.js';
import type { ForwardingLimits } from '../create-forwarder.js';
import type { LimitsMemory } from '../limits/rate-limits.js';
import type { StreamSockets } from '../listeners/listening-sockets.js';
import type { TlsPair } from '../listeners/tls-acceptor.js';
import type { LocalRecord } from '@weir/policy/answers';
import type { ThreadCounts } from '../metrics/thread-counts.js';

/** Words by which the main thread and one lane tell each other what they do. */
export const LaneWord = {
  /** What the lane is to do: a `LaneOrder`. */
  order: 0,
  /** The order that it has carried out. */
  done: 1,
  /** Counts its heartbeats: a lane that hangs gives none. */
  heartbeats: 2,
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
  /** With which `SubscriberKey` hashes clients: the same in all lanes, and unknown to clients. */
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
}

/** What the main thread may replace while the lane runs. */
export interface LaneFiles {
  /** For stream lanes only. */
  readonly tls?: TlsPair;
  readonly allowedClients?: CidrSet;
  readonly localRecords?: readonly LocalRecord[];
}

/** What a lane starts with. All of it can be sent to its thread. */
export interface LaneTask extends SharedTask, LaneFiles {
  /** From 0; stream lanes come after those for UDP. */
  readonly number: number;
  /** How many threads have a forwarder. */
  readonly threads: number;
  /** See `capacityOf`. */
  readonly capacityDivisor: number;
  /** Whether it reports what all threads see, such as an upstream that does not answer. */
  readonly isReporter: boolean;
  readonly words: Int32Array;
  readonly counts: ThreadCounts;
  /** For its `ReadPolicy`. */
  readonly policyPort: MessagePort;
  /** `LaneFiles`, as many as `LaneWord.sent` says. */
  readonly port: MessagePort;
}

/** What else a UDP lane starts with. */
export interface UdpTask {
  /** One for each address. */
  readonly sockets: readonly UdpSocketHandle[];
  /** See `LaneCounts`. */
  readonly laneCounts: Float64Array;
  /** UDP lanes. */
  readonly lanes: number;
  /** One word: how many of them get queries. */
  readonly awake: Int32Array;
  /** Whether those that the load does not need get no queries. */
  readonly parks: boolean;
}

/** What else a stream lane starts with. */
export interface StreamTask {
  /** For each address. */
  readonly sockets: readonly StreamSockets[];
  /** Stream lanes. */
  readonly lanes: number;
  /** Open connections of each subscriber, for `ConnectionCounts`. */
  readonly connections: SharedArrayBuffer;
  /** From which all stream lanes derive the keys of session tickets. */
  readonly ticketSecret: Uint8Array;
}

/** What a lane tells. */
export type LaneReport =
  | { readonly type: 'running' }
  /** That many lines of the query log. */
  | { readonly type: 'lines'; readonly lines: string; readonly count: number }
  /** For the log of the resolver. */
  | LaneLog;

export interface LaneLog {
  readonly type: 'log';
  readonly level: 'info' | 'warn' | 'error';
  readonly details: object;
  readonly text: string;
}
