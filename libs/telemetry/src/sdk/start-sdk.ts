import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Telemetry, TelemetryOptions } from '../telemetry.js';
import { logExportErrors } from './export-errors.js';
import { RegistryProducer } from './registry-producer.js';
import { samplerOf } from './samplers.js';
import { SdkTracer } from './sdk-tracer.js';

/** Longest time in which what waits is sent at a stop. Requests may have taken most of the ten seconds of a stop. */
const STOP_MS = 1_000;
/** Longest time for which the exporter tries to send a batch. */
const EXPORT_TIMEOUT_MS = 10_000;

/** The exporters read their own variables (`OTEL_EXPORTER_OTLP_…`) from the environment. */
export function startSdk({ process: name, configuration, log }: TelemetryOptions): Telemetry {
  const reportError = logExportErrors(log);
  const resource = resourceFromAttributes({
    'service.name': `weir-${name}`,
    'service.instance.id': `${hostname()}-${process.pid}`,
  }).merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
  const tracers = new TracerProvider({
    resource,
    sampler: samplerOf(configuration),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  let meters: MeterProvider | undefined;
  const exportMetrics = (registry: Registry): void => {
    if (configuration.OTEL_METRICS_EXPORTER === 'none') return;
    const exportIntervalMillis = configuration.OTEL_METRIC_EXPORT_INTERVAL;
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter(),
      exportIntervalMillis,
      exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, exportIntervalMillis),
      metricProducers: [new RegistryProducer(registry)],
    });
    meters = new MeterProvider({ resource, readers: [reader] });
  };
  return {
    tracer: new SdkTracer(tracers.getTracer('weir')),
    exportMetrics,
    stop: async () => {
      const sent = Promise.all([
        tracers.shutdown().catch(reportError),
        meters?.shutdown().catch(reportError),
      ]);
      const tooLate = new AbortController();
      await Promise.race([sent, sleep(STOP_MS, undefined, { signal: tooLate.signal })]);
      tooLate.abort();
    },
  };
}
