import type { Logger } from '@weir/ops';
import type { Registry } from 'prom-client';
import type { TelemetryConfiguration } from './telemetry-variables.js';

/** Attributes of a span. They never have a domain, a token or the address of a subscriber. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** What the span is for those who draw the trace: `internal` unless given. */
  readonly kind?: 'internal' | 'server' | 'producer' | 'consumer';
  /** When it began, as `performance.now()` tells it; now, unless given. */
  readonly startedMs?: number;
  readonly attributes?: SpanAttributes;
  /** A span of another trace that does the same work. */
  readonly sharedWith?: Span | null;
}

export interface SpanResult {
  readonly attributes?: SpanAttributes;
  /** Whether what it stands for has failed. */
  readonly hasFailed?: boolean;
}

/** A part of a trace that is recorded. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Its W3C Trace Context, for what belongs to it in another process. */
  readonly traceparent: string;
  begin(name: string, options?: SpanOptions): Span;
  note(name: string): void;
  end(result?: SpanResult): void;
}

/** Begins spans. What is not sampled has none. */
export interface Tracer {
  /**
   * The first span of this process in a trace.
   * @param traceparent W3C Trace Context of the caller; one that is not valid counts as absent.
   */
  begin(name: string, options: SpanOptions, traceparent?: string): Span | null;
  /** A span that goes on with a trace of another process. Without a valid `traceparent` there is none. */
  resume(name: string, options: SpanOptions, traceparent: string): Span | null;
}

export interface TelemetryOptions {
  readonly process: string;
  readonly configuration: TelemetryConfiguration;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Traces and metrics of a process on their way to a collector. */
export interface Telemetry {
  readonly tracer: Tracer;
  /** From now on sends the metrics at each interval, if they are wanted. */
  readonly exportMetrics: (registry: Registry) => void;
  /** Sends what waits, for a second at most. Never rejects. */
  readonly stop: () => Promise<void>;
}
