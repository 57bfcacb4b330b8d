export { openTelemetry } from './open-telemetry.js';
export type {
  Span,
  SpanAttributes,
  SpanOptions,
  SpanResult,
  Telemetry,
  TelemetryOptions,
  Tracer,
} from './telemetry.js';
export { TELEMETRY_VARIABLES, type TelemetryConfiguration } from './telemetry-variables.js';
