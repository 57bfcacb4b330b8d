import { loadedModulesHook, OtlpReceiver } from '@weir/telemetry/testing';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, type DeploymentOptions } from '../deployment/deployment.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const BACK_OFFICE = `00-${TRACE}-b7ad6b7169203331-01`;
const DOMAIN = 'secret.example.com';
const SUBSCRIBER = '192.0.2.77';

async function start(options: Partial<DeploymentOptions>) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-telemetry-'));
  const deployment = await Deployment.create({
    ...{ folder, replicas: 1, resolvers: 1, withoutProxies: true },
    onUnexpectedExit: (explanation) => {
      throw new Error(explanation);
    },
    ...options,
    variables: { PROPAGATION_TIMEOUT_MS: '60000', ...options.variables },
  });
  const stop = async () => {
    await deployment.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  await deployment.start();
  const call = async (method: string, path: string, body: unknown, traceparent?: string) => {
    const response = await fetch(`http://127.0.0.1:${deployment.managementPorts[0]}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${deployment.secrets.token}`,
        'Content-Type': 'application/json',
        ...(traceparent !== undefined && { traceparent }),
      },
      body: JSON.stringify(body),
    });
    expect(response.status, await response.text()).toBeLessThan(300);
    return response.headers.get('x-config-applied');
  };
  return { deployment, stop, call };
}

describe('a deployment that is traced', () => {
  let receiver: OtlpReceiver;
  let weir: Awaited<ReturnType<typeof start>>;
  const inTrace = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    weir = await start({
      resolvers: 2,
      blockPages: 1,
      variables: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_METRIC_EXPORT_INTERVAL: '1000',
      },
    });
    await weir.call('POST', '/blockpage/', { id: 1, type: 0 });
    await weir.call('POST', '/profiles/', { profile: { id: 1, page_id: 1 } });
    await weir.call('POST', '/net/', { ip: SUBSCRIBER, profile_id: 1 });
    await weir.call('POST', '/profile/1/bw_list', { type: 'deny', domain: DOMAIN });
  });
  afterAll(async () => {
    await weir.stop();
    await receiver.stop();
  });

  it('has one trace from the call of the back office to what each follower does', async () => {
    const path = `/profile/1/bw_list/${DOMAIN}`;
    expect(await weir.call('PATCH', path, { type: 'allow' }, BACK_OFFICE)).toBe('2/2');
    await expect.poll(() => inTrace(TRACE).length).toBe(8);
    const spans = inTrace(TRACE);
    const named = (name: string) => spans.find((span) => span.name === name)!;
    const server = spans.find(({ kind }) => kind === 2)!;
    const publish = named('change.publish');
    expect(server).toMatchObject({
      service: 'weir-control-plane',
      name: 'PATCH /profile/:profile_id/bw_list/:domain',
      parentSpanId: BACK_OFFICE.slice(36, 52),
      attributes: { 'http.request.method': 'PATCH', 'http.response.status_code': 200 },
    });
    const steps = [
      'change.queue',
      'change.transaction',
      'change.publish',
      'change.acknowledgements',
    ];
    expect(steps.map((step) => named(step).parentSpanId)).toEqual(steps.map(() => server.spanId));
    expect(named('change.acknowledgements').attributes).toEqual({
      'weir.resolvers.applied': 2,
      'weir.resolvers': 2,
    });
    const applied = spans.filter(({ name }) => name === 'change.apply');
    expect(applied.map(({ service }) => service).sort()).toEqual([
      'weir-block-page',
      'weir-resolver',
      'weir-resolver',
    ]);
    for (const span of applied) {
      expect(span).toMatchObject({ parentSpanId: publish.spanId, kind: 5, events: ['in force'] });
      expect(span.attributes['weir.revision']).toBe(publish.attributes['weir.revision']);
    }
    expect(new Set(applied.map((span) => span.resource['service.instance.id'])).size).toBe(3);
  });

  it('has the same steps for a replacement of the whole configuration', async () => {
    const trace = TRACE.replace(/^0a/, '0b');
    const init = {
      ...{ blockpages: [{ id: 2, type: 0 }], profiles: [{ profile: { id: 2, page_id: 2 } }] },
      ...{ bw_lists: [], napts: [], nets: [], nets6: [] },
    };
    await weir.call('POST', '/init/', init, BACK_OFFICE.replace(TRACE, trace));
    await expect.poll(() => inTrace(trace).length).toBe(8);
    expect(inTrace(trace).filter(({ name }) => name === 'change.apply').length).toBe(3);
    expect(inTrace(trace).filter(({ name }) => name === 'change.transaction').length).toBe(1);
  });

  it('sends the metrics of all processes under the names that /metrics has', async () => {
    const names = (service: string) => () =>
      receiver.metrics.filter((metric) => metric.service === service).map(({ name }) => name);
    await expect
      .poll(names('weir-control-plane'))
      .toContain('weir_management_request_duration_seconds');
    await expect.poll(names('weir-resolver')).toContain('weir_resolver_cache_entries');
    await expect.poll(names('weir-block-page')).toContain('weir_block_page_connections');
  });

  it('sends no domain, no token and no address of a subscriber', () => {
    const sent = Buffer.concat(receiver.bodies).toString('latin1');
    expect(sent).toContain('weir.revision');
    const { token, feedToken, hashKey } = weir.deployment.secrets;
    for (const secret of [DOMAIN, SUBSCRIBER, token, feedToken, hashKey]) {
      expect(sent).not.toContain(secret);
    }
  });
});

describe('a deployment whose collector never answers', () => {
  const modules = mkdtempSync(join(tmpdir(), 'weir-modules-'));
  let pids: number[];
  let receiver: OtlpReceiver;
  let weir: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    receiver = await OtlpReceiver.startSilent();
    const off = { OTEL_EXPORTER_OTLP_ENDPOINT: '' };
    weir = await start({
      replicas: 2,
      variables: {
        NODE_OPTIONS: `--import=${loadedModulesHook(modules)}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      },
      replicaVariables: (replica) => (replica === 0 ? {} : off),
      resolverVariables: () => off,
    });
    const { replicas, resolvers } = weir.deployment;
    pids = [...replicas, ...resolvers].map(({ pid }) => pid);
  });
  afterAll(async () => {
    await weir.stop();
    await receiver.stop();
    rmSync(modules, { recursive: true });
  });

  it('makes changes as ever, and stops as ever', async () => {
    const change = (id: number) => weir.call('POST', '/blockpage/', { id, type: 0 }, BACK_OFFICE);
    expect(await change(1)).toBe('1/1');
    // It has taken these spans, and keeps the control plane waiting for its answer.
    await expect.poll(() => receiver.spans.length).toBeGreaterThan(0);
    for (let id = 2; id <= 20; id++) expect(await change(id)).toBe('1/1');
    expect(await weir.deployment.replicas[0].terminate()).toEqual({ code: 0 });
  });

  it('has loaded OpenTelemetry only in the process that uses it', () => {
    const [tracing, ...others] = pids.map((pid) => {
      const urls = readFileSync(join(modules, String(pid)), 'utf8');
      const packages = [...urls.matchAll(/\/@opentelemetry\/([\w-]+)\//g)];
      return [...new Set(packages.map(([, one]) => one))];
    });
    expect(tracing).toContain('sdk-trace');
    // prom-client needs the interfaces.
    expect(others).toEqual([['api'], ['api']]);
  });
});
