import type { Logger } from '@weir/ops';
import type { Registry } from 'prom-client';
import type { TelemetryConfiguration } from './telemetry-variables.js';
import type { Tracer } from './tracer.js';

export interface TelemetryOptions {
  /** Name of the process. */
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
