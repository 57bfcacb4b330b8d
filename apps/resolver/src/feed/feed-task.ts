import type { FeedConfiguration } from '@weir/policy-feed/state';
import type { TelemetryConfiguration } from '@weir/telemetry';
import type { LogLevel } from '@weir/ops';
import type { OwnStatus } from '@weir/policy-feed';
import type { MessagePort } from 'node:worker_threads';

export type FeedThreadConfiguration = FeedConfiguration &
  TelemetryConfiguration & { readonly LOG_LEVEL: LogLevel };

/** What the thread of the feed starts with. */
export interface FeedTask {
  readonly configuration: FeedThreadConfiguration;
  /** Of the resolver. */
  readonly name: string;
  /** Most readers of the policy. */
  readonly readers: number;
  /** Its state: a `FeedState` each time, read by whoever wants to know it. */
  readonly states: MessagePort;
  readonly words: Int32Array;
}

/** Words that the thread of the feed writes. */
export const FeedWord = {
  /** Its number among the threads of the system. */
  threadId: 0,
  /** Counts its looks at the time: when it hangs there are none. */
  heartbeats: 1,
} as const;
export const FEED_WORDS = 2;

/** What the main thread tells it. */
export type FeedOrder =
  | { readonly type: 'connect'; readonly reader: number; readonly port: MessagePort }
  | { readonly type: 'start' }
  /** What the control plane is told of this resolver from now on. */
  | { readonly type: 'status'; readonly status: OwnStatus }
  | { readonly type: 'stop' };

/** What it tells the main thread. */
export type FeedReport =
  /** There is a state, and readers can be connected. */
  | { readonly type: 'opened' }
  /** For a reason that an operator can correct. */
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'atHead' }
  | { readonly type: 'stopped' }
  /** A line of the log. */
  | { readonly type: 'logged'; readonly line: string };
