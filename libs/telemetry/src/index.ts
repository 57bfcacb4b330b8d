export { openTelemetry } from './open-telemetry.js';
export type * from './telemetry.js';
export { TELEMETRY_VARIABLES, type TelemetryConfiguration } from './telemetry-variables.js';
