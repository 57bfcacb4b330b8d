import type { Telemetry, TelemetryOptions } from './telemetry.js';

/**
 * Starts to record, if the configuration asks for it. Only then OpenTelemetry is loaded.
 * @returns null: it is off.
 */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry | null> {
  if (options.configuration.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  const { startSdk } = await import('./sdk/start-sdk.js');
  return startSdk(options);
}
