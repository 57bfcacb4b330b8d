import type { CidrSet, Logger } from '@weir/ops';
import type { Tracer } from '@weir/telemetry';
import type { CallLimits } from '../callers/call-limits.js';
import type { FailedAttempts } from '../callers/failed-attempts.js';
import type { Token } from '../callers/tokens-file.js';
import type { DocsAccess } from '../openapi/docs-access.js';
import type { RequestMetrics } from './request-metrics.js';

/** Provides `HttpOptions` to the parts of `HttpModule`. */
export const HTTP_OPTIONS = Symbol('HttpOptions');

export interface HttpOptions {
  readonly log: Logger;
  readonly metrics: RequestMetrics;
  /** Null: nothing is traced. */
  readonly tracer: Tracer | null;
  /** Undefined: any source address is approved. */
  readonly allowedSources: CidrSet | undefined;
  readonly trustedProxies: CidrSet | undefined;
  /** The tokens at the moment. */
  readonly tokens: () => readonly Token[];
  readonly attempts: FailedAttempts;
  readonly callLimits: CallLimits & {
    /** Lists that a token may read at a time. */
    readonly listsAtOnce: number;
  };
  readonly bodyLimitBytes: number;
  /** Longest time for which a client may send no bytes of a body. */
  readonly stallMs: number;
  readonly docs: DocsAccess;
  /** Whether the console is served. */
  readonly console: boolean;
  /** Name of the time zone of schedules. */
  readonly timeZone: string;
}
