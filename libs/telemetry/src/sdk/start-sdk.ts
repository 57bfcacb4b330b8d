import { diag, DiagLogLevel } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  TracerProvider,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '@weir/ops';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { TelemetryConfiguration } from '../telemetry-variables.js';
import type { Telemetry, TelemetryOptions } from '../telemetry.js';
import { RegistryProducer } from './registry-producer.js';
import { SdkTracer } from './sdk-tracer.js';

const LOG_INTERVAL_MS = 60_000;
const MAX_REASON_LENGTH = 200;

/**
 * Logs what OpenTelemetry reports, a line a minute: a collector may be away for days.
 * @returns logs another error in the same way.
 */
export function logExportErrors(
  log: Pick<Logger, 'warn'>,
  nowMs: () => number = () => performance.now(),
): (reason: unknown) => void {
  let loggedMs = -Infinity;
  let count = 0;
  const report = (reason: unknown): void => {
    count++;
    if (nowMs() - loggedMs < LOG_INTERVAL_MS) return;
    loggedMs = nowMs();
    log.warn(
      { reason: toText(reason), count },
      'traces or metrics could not be sent; this changes nothing else',
    );
  };
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler(report);
  return report;
}

/** The message only: a response of the collector may have anything in it. */
function toText(reason: unknown): string {
  const text = reason instanceof Error ? reason.message || reason.name : String(reason);
  return text.slice(0, MAX_REASON_LENGTH);
}

/** The sampler of these variables. Of OpenTelemetry's own packages, only the one that bundles all others reads them. */
function samplerOf(configuration: TelemetryConfiguration): Sampler {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio } = configuration;
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

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
      await Promise.race([sent, sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}
