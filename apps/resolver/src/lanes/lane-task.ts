import type { HashKey } from '@weir/dns-name';
import type { CidrSet } from '@weir/ops';
import type { UdpSocketHandle } from '@weir/udp-batch';
import type { MessagePort } from 'node:worker_threads';
import type { CacheInvitation } from '../cache/cache-memory.js';
import type { SetTimes } from '../clocks.js';
import type { LimitsMemory } from '../limits/client-limits.js';
import type { LocalRecord } from '@weir/policy/answers';
import type { ThreadCounts } from '../metrics/thread-counts.js';
import type { AnswerConfiguration } from '../query-path/create-query-path.js';

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

/** What only lanes need of the configuration, and the rates of each subscriber, under the names of the variables. */
export interface LaneSettings {
  readonly UDP_NAP_US: number;
  readonly CACHE_STALE_AFTER_MS: number;
  readonly CLIENT_ERROR_RATE: number;
  readonly CLIENT_QUERY_RATE: number;
  readonly CLIENT_UDP_BYTE_RATE: number;
}

/** What all lanes have in common. */
export interface SharedTask {
  readonly configuration: AnswerConfiguration & LaneSettings;
  readonly hashKey: HashKey;
  readonly cookieSecrets: readonly HashKey[];
  /** Of `SubscriberKey`. */
  readonly subscriberSalt: number;
  readonly limits: LimitsMemory;
  readonly profileRows: { readonly capacity: number; readonly memory: SharedArrayBuffer } | null;
  /** Whether every query goes to the main thread, because it logs answers. */
  readonly handsOverAll: boolean;
  /** The same moment on the clocks of the process and of the main thread. */
  readonly clock: { readonly hrtimeNs: bigint; readonly monotonicMs: number };
  /** Times in place of the real ones. */
  readonly times: SetTimes | undefined;
  readonly loadBalancers: CidrSet;
  /** A word that the main thread waits on: the lanes count in it what they hand over. */
  readonly wake: Int32Array;
  /** A word that counts turns of the main thread. */
  readonly mainTurns: Int32Array;
  /** One word: how many lanes get queries. */
  readonly awake: Int32Array;
  /** Whether lanes that the load does not need get no queries. */
  readonly parks: boolean;
}

/** What lanes need of the configuration, in a form that can be sent to them. */
export function laneConfiguration(
  configuration: AnswerConfiguration & LaneSettings,
): SharedTask['configuration'] {
  const { DNS_PROXY_PROTOCOL_FROM: loadBalancers } = configuration;
  return {
    BLOCK_EDE_TEXT: configuration.BLOCK_EDE_TEXT,
    BLOCK_PAGE_ADDRESSES: configuration.BLOCK_PAGE_ADDRESSES,
    BLOCK_PAGE_BRAND_NAME: configuration.BLOCK_PAGE_BRAND_NAME,
    BLOCK_PAGE_BRAND_PHONE: configuration.BLOCK_PAGE_BRAND_PHONE,
    BLOCK_PAGE_BRAND_SUPPORT: configuration.BLOCK_PAGE_BRAND_SUPPORT,
    BLOCK_PAGE_IPV4: configuration.BLOCK_PAGE_IPV4,
    BLOCK_PAGE_IPV6: configuration.BLOCK_PAGE_IPV6,
    BLOCK_REBINDING: configuration.BLOCK_REBINDING,
    BLOCK_RESOLVER_DISCOVERY: configuration.BLOCK_RESOLVER_DISCOVERY,
    BLOCK_TTL: configuration.BLOCK_TTL,
    CACHE_MAX_TTL: configuration.CACHE_MAX_TTL,
    CACHE_NXDOMAIN_CUT: configuration.CACHE_NXDOMAIN_CUT,
    CACHE_STALE_AFTER_MS: configuration.CACHE_STALE_AFTER_MS,
    CLIENT_ERROR_RATE: configuration.CLIENT_ERROR_RATE,
    CLIENT_QUERY_RATE: configuration.CLIENT_QUERY_RATE,
    CLIENT_UDP_BYTE_RATE: configuration.CLIENT_UDP_BYTE_RATE,
    DNS_DESIGNATED_HTTPS_PORT: configuration.DNS_DESIGNATED_HTTPS_PORT,
    DNS_DESIGNATED_NAME: configuration.DNS_DESIGNATED_NAME,
    DNS_DESIGNATED_TLS_PORT: configuration.DNS_DESIGNATED_TLS_PORT,
    DNS_HOST: configuration.DNS_HOST,
    DNS_HTTPS_PORT: configuration.DNS_HTTPS_PORT,
    DNS_PROXY_PROTOCOL_FROM: loadBalancers === undefined ? undefined : {},
    DNS_SERVER_ID: configuration.DNS_SERVER_ID,
    DNS_TLS_PORT: configuration.DNS_TLS_PORT,
    INSPECT_CNAME: configuration.INSPECT_CNAME,
    LOCAL_ZONES: configuration.LOCAL_ZONES,
    ORDERS_PAGE: configuration.ORDERS_PAGE,
    REBINDING_ALLOWED_ZONES: configuration.REBINDING_ALLOWED_ZONES,
    RESOLVER_INFO_URL: configuration.RESOLVER_INFO_URL,
    STRUCTURED_ERRORS_OPTION: configuration.STRUCTURED_ERRORS_OPTION,
    UDP_NAP_US: configuration.UDP_NAP_US,
  };
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
  readonly ring: SharedArrayBuffer;
  readonly counts: ThreadCounts;
  /** See `LaneCounts`. */
  readonly turns: Float64Array;
  readonly cache: CacheInvitation;
  /** For its `ReadPolicy`. */
  readonly policyPort: MessagePort;
  /** `LaneFiles`, as many as `LaneWord.sent` says. */
  readonly port: MessagePort;
}

/** What a lane tells. */
export type LaneReport =
  { readonly type: 'running' } | { readonly type: 'defect'; readonly error: unknown };
