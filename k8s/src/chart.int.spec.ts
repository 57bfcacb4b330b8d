import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { validationErrors } from './objects/validate.js';
import { type KubernetesObject, titleOf } from './objects/kubernetes-object.js';
import { REPOSITORY_FOLDER } from './paths.js';
import { render } from './render/render.js';
import { ciValues, overlay, type Values } from './render/values.js';
import { findObject } from './testing/find.js';

const MINIMAL = ciValues('minimal');
const names = (objects: readonly KubernetesObject[], kind: string): string[] =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);

const encrypted = { DNS_TLS_PORT: 5853, DNS_HTTPS_PORT: 5443 };

interface ResolverPod {
  readonly spec: {
    readonly containers: {
      readonly env: { readonly name: string; readonly value?: string }[];
      readonly volumeMounts: { readonly name: string; readonly mountPath: string }[];
    }[];
    readonly volumes: { readonly name: string; readonly configMap?: object }[];
  };
}

/** Pod template of the resolver. */
function resolverPod(values: Values, kind: string): ResolverPod {
  const { spec } = findObject(render({ values }), kind, 'weir-resolver');
  return (spec as { template: ResolverPod }).template;
}

const resolverEnv = (values: Values, kind: string) =>
  Object.fromEntries(
    resolverPod(values, kind).spec.containers[0].env.map(({ name, value }) => [name, value]),
  );

for (const values of ['minimal', 'trial', 'full', 'daemonset']) {
  describe(`the chart with ${values} values`, () => {
    const objects = render({ values: ciValues(values) });

    it('makes objects that the schemas of Kubernetes accept', () => {
      expect(objects.flatMap(validationErrors)).toEqual([]);
    });

    it('makes each object once', () => {
      const titles = objects.map(titleOf);
      expect(titles).toEqual([...new Set(titles)]);
    });

    it('puts every object into the namespace of the release', () => {
      expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['dns']));
    });

    it('gives each object a name that Kubernetes accepts', () => {
      for (const { metadata } of objects) expect(metadata.name).toMatch(/^[a-z0-9-]{1,63}$/);
    });

    it('makes the same objects when it is rendered again', () => {
      expect(render({ values: ciValues(values) }).map(titleOf)).toEqual(objects.map(titleOf));
    });
  });
}

describe('the chart', () => {
  it.each<[what: string, values: Values, message: string]>([
    ['no values', {}, 'DATABASE_URL is not set'],
    [
      'a resolver without upstreams',
      { secrets: { existing: 'weir' } },
      'resolver.env.UPSTREAMS is required',
    ],
    [
      'an existing Secret together with bundled stores',
      { ...MINIMAL, redis: { bundled: true } },
      'leave secrets.existing empty',
    ],
    [
      'autoscaling of a DaemonSet',
      { ...MINIMAL, resolver: { kind: 'DaemonSet', autoscaling: { enabled: true } } },
      'a DaemonSet has one pod on each node',
    ],
    [
      'pods that bind port 53',
      { ...MINIMAL, resolver: { env: { DNS_PORT: 53, UPSTREAMS: ['192.0.2.53'] } } },
      'ports of pods must be 1024 or higher',
    ],
    [
      'DNS over TLS without a certificate',
      overlay(MINIMAL, { resolver: { env: { DNS_TLS_PORT: 8853 } } }),
      'need the certificate of resolver.tlsSecret',
    ],
    [
      'allowed clients from two places',
      overlay(MINIMAL, {
        resolver: {
          allowedClients: ['192.0.2.0/24'],
          env: { DNS_ALLOWED_CLIENTS: ['198.51.100.0/24'] },
        },
      }),
      'set either resolver.allowedClients',
    ],
    [
      'custom pages from two places',
      { ...MINIMAL, blockPage: { pages: { 7: '<p>' }, content: { emptyDir: {} } } },
      'set either blockPage.pages',
    ],
    [
      'resolvers without a control plane or a FEED_URL',
      { ...MINIMAL, controlPlane: { enabled: false } },
      'resolver.env.FEED_URL',
    ],
  ])('refuses %s with a message', (_what, values, message) => {
    expect(() => render({ values })).toThrow(message);
  });

  it('has the same version as package.json', () => {
    const read = (path: string): string => readFileSync(join(REPOSITORY_FOLDER, path), 'utf8');
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    expect(parse(read('k8s/weir/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  it('makes no objects for components that are disabled', () => {
    const off = { enabled: false };
    const parts = { controlPlane: off, resolver: off, blockPage: off, networkPolicy: off };
    expect(render({ values: { ...MINIMAL, ...parts } })).toEqual([]);
  });

  it('begins every name with the name of the release', () => {
    const objects = render({ values: MINIMAL, name: 'north', namespace: 'edge' });
    expect(names(objects, 'StatefulSet')).toEqual(['north-weir-resolver']);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['edge']));
  });

  it('shortens a long release name and keeps the suffix', () => {
    const objects = render({ values: MINIMAL, name: 'a'.repeat(53) });
    for (const { metadata } of objects) expect(metadata.name.length).toBeLessThanOrEqual(63);
    expect(names(objects, 'StatefulSet')[0]).toMatch(/-resolver$/);
  });

  it('gives the allowed clients to resolvers as a file, whose change restarts no pod', () => {
    const withClients = (...allowedClients: string[]) =>
      overlay(MINIMAL, { resolver: { allowedClients } });
    const values = withClients('192.0.2.0/24', '2001:db8::/32');
    const name = 'weir-resolver-allowed-clients';
    expect(findObject(render({ values }), 'ConfigMap', name)).toMatchObject({
      data: { networks: '192.0.2.0/24\n2001:db8::/32\n' },
    });
    const { containers, volumes } = resolverPod(values, 'StatefulSet').spec;
    expect(volumes).toContainEqual({ name: 'allowed-clients', configMap: { name } });
    const mountPath = '/etc/weir/allowed-clients';
    expect(containers[0].volumeMounts).toContainEqual({
      name: 'allowed-clients',
      mountPath,
      readOnly: true,
    });
    expect(resolverEnv(values, 'StatefulSet')).toMatchObject({
      DNS_ALLOWED_CLIENTS_FILE: `${mountPath}/networks`,
    });
    expect(resolverPod(withClients('198.51.100.0/24'), 'StatefulSet').spec).toEqual(
      resolverPod(values, 'StatefulSet').spec,
    );
    expect(resolverEnv(MINIMAL, 'StatefulSet')).not.toHaveProperty('DNS_ALLOWED_CLIENTS_FILE');
  });

  it('tells resolvers behind a Service at which ports clients reach DNS over TLS and HTTPS', () => {
    const env = { ...encrypted, DNS_DESIGNATED_NAME: 'dns.example.net' };
    const ports = { tls: 8853 };
    const behind = overlay(MINIMAL, { resolver: { env, tlsSecret: 'dns', service: { ports } } });
    expect(resolverEnv(behind, 'StatefulSet')).toMatchObject({
      DNS_DESIGNATED_TLS_PORT: '8853',
      DNS_DESIGNATED_HTTPS_PORT: '443',
    });
    const onNode = overlay(behind, { resolver: { kind: 'DaemonSet' } });
    expect(resolverEnv(onNode, 'DaemonSet')).not.toHaveProperty('DNS_DESIGNATED_TLS_PORT');
    const own = overlay(behind, { resolver: { env: { DNS_DESIGNATED_TLS_PORT: 9853 } } });
    expect(resolverEnv(own, 'StatefulSet')).toMatchObject({ DNS_DESIGNATED_TLS_PORT: '9853' });
  });

  it('gives UDP and TCP one Service, or one each with separateUdp', () => {
    const separate = {
      resolver: { env: { UPSTREAMS: ['192.0.2.53'] }, service: { separateUdp: true } },
    };
    const resolvers = (values: Values): string[] =>
      names(render({ values }), 'Service').filter((name) => name.startsWith('weir-resolver'));
    expect(resolvers(MINIMAL)).toEqual(['weir-resolver', 'weir-resolver-ops']);
    expect(resolvers({ ...MINIMAL, ...separate })).toEqual([
      'weir-resolver-udp',
      'weir-resolver-tcp',
      'weir-resolver-ops',
    ]);
  });
});
