import type { V1PodSpec } from '@kubernetes/client-node';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { KubernetesObject } from './objects/testing/kubernetes-object.js';
import { render } from './testing/render.js';
import { ciValues, overlay } from './testing/values.js';
import { createDatabase } from './testing/database.js';
import { findObject } from './testing/find.js';
import { startWeir, type WeirProcesses } from './testing/weir-processes.js';

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
    redisUrl: string;
  }
}

interface TestPod extends KubernetesObject {
  readonly spec: V1PodSpec;
}
const testPod = (values: string, more = {}): TestPod => {
  const objects = render({ values: overlay(ciValues(values), more) });
  return findObject(objects, 'Pod', 'weir-test') as TestPod;
};

const environmentOf = ({ spec }: TestPod): Record<string, string | undefined> =>
  Object.fromEntries((spec.containers[0].env ?? []).map(({ name, value }) => [name, value]));

describe('the pod of helm test', () => {
  it('is a hook whose log stays, with the fewest privileges', () => {
    const { metadata, spec } = testPod('trial');
    expect(metadata.annotations).toEqual({
      'helm.sh/hook': 'test',
      // Helm 3 reads the log for --logs after it has deleted what succeeded.
      'helm.sh/hook-delete-policy': 'before-hook-creation',
    });
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true },
    });
    expect(spec.containers[0]).toMatchObject({
      image: 'registry.example/weir/resolver:0.1.0',
      securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    });
  });

  it('asks every pod of the release', () => {
    expect(environmentOf(testPod('trial'))).toEqual({
      OPS: ['block-page', 'control-plane', 'resolver']
        .map((name) => `weir-${name}-ops.dns.svc:9090`)
        .join(),
      DNS: 'weir-resolver-ops.dns.svc:5300',
    });
  });

  it('asks resolvers on the addresses that the operator names', () => {
    const env = { DNS_HOST: ['203.0.113.53', '2001:db8::53'] };
    expect(environmentOf(testPod('daemonset', { resolver: { env } }))).toMatchObject({
      DNS: '203.0.113.53:53,[2001:db8::53]:53',
    });
  });

  it('asks resolvers that listen on every address by their Service, and none where there is none', () => {
    const env = { DNS_HOST: ['0.0.0.0', '::'] };
    const pod = testPod('daemonset', { resolver: { env } });
    expect(environmentOf(pod)['DNS']).toBe('weir-resolver-ops.dns.svc:53');
    const without = testPod('daemonset', { resolver: { enabled: false, env } });
    expect(environmentOf(without)['DNS']).toBe('');
  });
});

describe('helm test with real processes', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let weir: WeirProcesses;

  beforeAll(async () => {
    database = await createDatabase(inject('databaseUrl'), 'chart_helm_test');
    // Nothing listens there.
    weir = await startWeir(database.url, inject('redisUrl'), '127.0.0.1:9');
  });
  afterAll(async () => {
    await weir.stop();
    await database.drop();
  });

  /** Runs what the pod runs. */
  async function runTest(
    environment: Readonly<Record<string, string>>,
  ): Promise<{ code: number | null; output: string }> {
    const { command = [], args = [] } = testPod('trial').spec.containers[0];
    const [, ...rest] = [...command, ...args];
    const child = spawn(process.execPath, rest, { env: environment });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  const ops = (): string => weir.opsPorts.map((port) => `localhost:${port}`).join();

  it('succeeds when all are ready and the resolver answers', async () => {
    const DNS = `127.0.0.1:${weir.dnsPort}`;
    const { code, output } = await runTest({ OPS: ops(), DNS, QUERY_NAME: 'nowhere.invalid' });
    expect(output).toMatch(/^ok .*: ready$/m);
    expect(output).toContain(`ok    ${DNS} ${DNS}: nowhere.invalid: NOTFOUND`);
    expect(code, output).toBe(0);
  });

  it('fails when a resolver has no upstream that answers', async () => {
    const { code, output } = await runTest({ OPS: '', DNS: `127.0.0.1:${weir.dnsPort}` });
    expect(output).toMatch(/^FAIL .*SERVFAIL/m);
    expect(code).toBe(1);
  });

  it('fails when a process is not there', async () => {
    const { code, output } = await runTest({ OPS: 'localhost:9,nowhere.invalid:9090', DNS: '' });
    expect(output.match(/^FAIL/gm)?.length).toBeGreaterThan(1);
    expect(code).toBe(1);
  });
});
