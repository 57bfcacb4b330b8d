import { parseVariables } from '@weir/ops';
import { Counter, Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openTelemetry, type Telemetry, TELEMETRY_VARIABLES } from './index.js';
import { OtlpReceiver } from './testing/index.js';

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const NOT_SAMPLED = CALLER.replace(/01$/, '00');

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  vi.unstubAllEnvs();
});

async function receive(start = () => OtlpReceiver.start()): Promise<OtlpReceiver> {
  const receiver = await start();
  cleanups.push(() => receiver.stop());
  return receiver;
}

/** OpenTelemetry reads some of its variables from the environment. */
async function open(environment: Record<string, string>): Promise<Telemetry & { lines: object[] }> {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const lines: object[] = [];
  const keep = (fields: object) => void lines.push(fields);
  const configuration = parseVariables(TELEMETRY_VARIABLES, environment);
  const log = { info: keep, warn: keep } as never;
  const telemetry = await openTelemetry({ process: 'resolver', configuration, log });
  return { ...telemetry!, lines };
}

const openAt = (url: string, more: Record<string, string> = {}) =>
  open({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more });

describe('telemetry', () => {
  it('is off without an endpoint', async () => {
    const configuration = parseVariables(TELEMETRY_VARIABLES, {});
    const log = { info: () => undefined, warn: () => undefined };
    expect(await openTelemetry({ process: 'resolver', configuration, log })).toBeNull();
  });

  it('sends the spans of a trace that the caller has begun, at a stop at the latest', async () => {
    const receiver = await receive();
    const { tracer, stop } = await openAt(receiver.url, {
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=of-the-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    const span = tracer.begin('PATCH /net/:ip', { kind: 'server' }, CALLER)!;
    const part = span.begin('change.queue', { attributes: { n: 3, whole: true } });
    part.note('in force');
    part.end({ hasFailed: true });
    span.end({ attributes: { 'http.response.status_code': 200 } });
    await stop();
    const [queue, call] = receiver.spans;
    expect(call).toMatchObject({
      service: 'weir-resolver',
      resource: { 'deployment.environment.name': 'test' },
      traceId: CALLER.slice(3, 35),
      parentSpanId: CALLER.slice(36, 52),
      kind: 2,
      attributes: { 'http.response.status_code': 200 },
      hasFailed: false,
    });
    expect(queue).toMatchObject({
      name: 'change.queue',
      parentSpanId: call?.spanId,
      attributes: { n: 3, whole: true },
      events: ['in force'],
      hasFailed: true,
    });
    expect(receiver.headers[0]).toMatchObject({ 'api-key': 'of-the-test' });
  });

  it('begins a trace of its own when the context of the caller is not valid', async () => {
    const receiver = await receive();
    const { tracer, stop } = await openAt(receiver.url);
    const contexts = [
      '',
      'x',
      CALLER.toUpperCase(),
      `${CALLER}-x`,
      '00-'.repeat(10_000),
      `ff${CALLER.slice(2)}`,
    ];
    for (const context of contexts) {
      tracer.begin('call', {}, context)!.end();
      expect(tracer.resume('apply', {}, context)).toBeNull();
    }
    await stop();
    expect(receiver.spans.map(({ parentSpanId }) => parentSpanId)).toEqual(contexts.map(() => ''));
  });

  it('has no span that ends before it begins, however short it is', async () => {
    const receiver = await receive();
    const { tracer, stop, lines } = await openAt(receiver.url);
    for (let n = 0; n < 200; n++) {
      const span = tracer.begin('call', { startedMs: performance.now() })!;
      span.note('in force');
      span.end();
    }
    await stop();
    const durations = receiver.spans.map(({ startNs, endNs }) => endNs - startNs);
    expect([durations.length, durations.filter((ns) => ns <= 0n), lines]).toEqual([200, [], []]);
  });

  it('records nothing of a call that its caller does not sample', async () => {
    const receiver = await receive();
    const { tracer, stop } = await openAt(receiver.url);
    expect(tracer.begin('call', {}, NOT_SAMPLED)).toBeNull();
    expect(tracer.resume('apply', {}, NOT_SAMPLED)).toBeNull();
    await stop();
    expect(receiver.spans).toEqual([]);
  });

  it('lets the sampler decide on calls without a context', async () => {
    const receiver = await receive();
    const { tracer, stop } = await openAt(receiver.url, {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    });
    expect(tracer.begin('call', {})).toBeNull();
    expect(tracer.begin('call', {}, CALLER)).not.toBeNull();
    await stop();
  });

  it('sends the metrics of the registry at a stop and before, and none when they are not wanted', async () => {
    const registry = new Registry();
    new Counter({ name: 'a_total', help: 'A', registers: [registry] });
    const receiver = await receive();
    const sending = await openAt(receiver.url, { OTEL_METRIC_EXPORT_INTERVAL: '1000' });
    sending.exportMetrics(registry);
    await expect
      .poll(() => receiver.metrics)
      .toContainEqual({ service: 'weir-resolver', name: 'a_total', points: 1 });
    await sending.stop();
    receiver.metrics.length = 0;
    const other = await openAt(receiver.url, { OTEL_METRICS_EXPORTER: 'none' });
    other.exportMetrics(registry);
    await other.stop();
    expect(receiver.metrics).toEqual([]);
  });

  it('logs one line when the collector is away', async () => {
    const receiver = await OtlpReceiver.start();
    const { url } = receiver;
    await receiver.stop();
    const { tracer, stop, lines } = await openAt(url, { OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
    tracer.begin('call', {})!.end();
    tracer.begin('call', {})!.end();
    await stop();
    expect(lines).toEqual([{ reason: expect.stringContaining('ECONNREFUSED'), count: 1 }]);
  });

  it('stops within a second or two when the collector does not answer', async () => {
    const receiver = await receive(() => OtlpReceiver.startSilent());
    const { tracer, exportMetrics, stop } = await openAt(receiver.url);
    exportMetrics(new Registry());
    tracer.begin('call', {})!.end();
    const stopped = stop();
    await expect.poll(() => receiver.spans.length).toBe(1);
    await stopped;
  });
});
