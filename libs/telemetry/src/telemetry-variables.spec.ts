import { parseVariables } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { TELEMETRY_VARIABLES } from './telemetry-variables.js';

const parse = (environment: Record<string, string>) =>
  parseVariables(TELEMETRY_VARIABLES, environment);

describe('TELEMETRY_VARIABLES', () => {
  it('are off unless an endpoint is set', () => {
    expect(parse({})).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 1,
    });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://collector:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:password@collector:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=a b'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'production'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=b,,c=d'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_METRICS_EXPORTER', 'prometheus'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '10'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => parse({ [name]: value })).toThrow(new RegExp(`^${name} must be `));
  });

  it('never repeat a password', () => {
    const set = () => parse({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:hunter2@collector:4318' });
    expect(set).toThrow(/OTEL_EXPORTER_OTLP_HEADERS/);
    expect(set).not.toThrow(/hunter2/);
  });
});
