import {
  choice,
  type Configuration,
  decimal,
  integer,
  matching,
  optional,
  secret,
  text,
  type Variable,
  VariableFault,
} from '@weir/ops';

const MAX_RESOURCE_ATTRIBUTES_LENGTH = 4_096;
const RESOURCE_ATTRIBUTES = /^[^\s=,]+=[^\s=,]*(,[^\s=,]+=[^\s=,]*)*$/;

/** The samplers of the OpenTelemetry specification. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The standard variables of OpenTelemetry that every process knows: a part of its schema. */
export const TELEMETRY_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    endpoint({
      description:
        'Where traces and metrics are sent: the OTLP/HTTP endpoint of an OpenTelemetry collector (protobuf; ' +
        '/v1/traces and /v1/metrics are appended). Unset: nothing is recorded, and nothing is loaded for it.',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(
    secret(3, {
      description:
        'Headers of what is sent to OTEL_EXPORTER_OTLP_ENDPOINT, such as api-key=…,x-tenant=…',
    }),
  ),
  OTEL_SERVICE_NAME: optional(
    text('a name', {
      description: 'Name of this service in traces and metrics. Unset: weir- and the process.',
    }),
  ),
  OTEL_RESOURCE_ATTRIBUTES: optional(
    matching(
      RESOURCE_ATTRIBUTES,
      MAX_RESOURCE_ATTRIBUTES_LENGTH,
      'comma-separated key=value, without spaces; other characters percent-encoded',
      {
        description:
          'Attributes of all that is sent, such as deployment.environment.name=production. They go before those of ' +
          'Weir.',
      },
    ),
  ),
  OTEL_TRACES_SAMPLER: choice(SAMPLERS, {
    description:
      'Which calls are traced. parentbased_…: as the traceparent of the caller says, otherwise as named. ' +
      'Resolvers and block pages follow the control plane with each parentbased_ sampler.',
    default: 'parentbased_always_on',
  }),
  OTEL_TRACES_SAMPLER_ARG: decimal(0, 1, {
    description: 'Share of the calls that a traceidratio sampler selects.',
    default: '1',
  }),
  OTEL_METRICS_EXPORTER: choice(['otlp', 'none'], {
    description:
      'otlp: the metrics of /metrics are sent too. none: only traces are sent, for those who scrape /metrics.',
    default: 'otlp',
  }),
  OTEL_METRIC_EXPORT_INTERVAL: integer(1_000, 3_600_000, {
    description: 'Milliseconds between two times that metrics are sent.',
    default: '60000',
  }),
} as const;

export type TelemetryConfiguration = Configuration<typeof TELEMETRY_VARIABLES>;

/** It is shown in documents and in the chart, so it must not have a password. */
function endpoint(options: { readonly description: string }): Variable<string> {
  const parse = (value: string): string => {
    const url = URL.canParse(value) ? new URL(value) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
      throw new VariableFault();
    if (url.username !== '' || url.password !== '')
      throw new VariableFault('credentials belong in OTEL_EXPORTER_OTLP_HEADERS');
    return value;
  };
  const allowed = 'a URL that begins with http:// or https://, without credentials';
  const valueSchema = { type: 'string', pattern: String.raw`^https?://[^/@\s][^@\s]*$` };
  return { ...text(allowed, options), valueSchema, parse };
}
