export { openTelemetry } from './open-telemetry.js';
export type { Telemetry, TelemetryOptions } from './telemetry.js';
export { TELEMETRY_VARIABLES, type TelemetryConfiguration } from './telemetry-variables.js';
export type { Span, SpanAttributes, SpanOptions, SpanResult, Tracer } from './tracer.js';
