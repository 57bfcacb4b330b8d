import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AlertRule, readRules } from './alerts/testing/rules.js';
import { validationErrors } from './objects/testing/validate.js';
import { type KubernetesObject, titleOf } from './objects/testing/kubernetes-object.js';
import { REPOSITORY_FOLDER } from './paths.js';
import { render, renderText } from './testing/render.js';
import { CI_VALUES, ciValues, overlay, type Values } from './testing/values.js';
import { podsOf } from './pods/testing/pod.js';
import { findObject } from './testing/find.js';

const MINIMAL = ciValues('minimal');
const names = (objects: readonly KubernetesObject[], kind: string): string[] =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);

const SECRETS = {
  DOMAIN_HASH_KEY: '000102030405060708090a0b0c0d0e0f',
  FEED_TOKENS: ['a-token-of-the-feed'],
  MANAGEMENT_TOKENS: ['a-token-of-the-management-api'],
};
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

/** Lines with secrets, and with checksums of them. */
const GENERATED = /^( *(?:[A-Z_]+|redis\.conf|checksum\/secret): ).+$/gm;

const generates = (name: string): boolean =>
  (ciValues(name)['secrets'] as { readonly generate?: boolean }).generate ?? false;

for (const values of CI_VALUES) {
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

    it('is the same text when it is rendered again, by both Helms, except for generated secrets', () => {
      const [one, ...others] = ([3, 4, 4] as const).map((version) => {
        const text = renderText({ values: ciValues(values) }, version);
        return generates(values) ? text.replaceAll(GENERATED, '$1') : text;
      });
      for (const other of others) expect(other).toBe(one);
    });

    it('makes the same objects by both Helms', () => {
      expect(render({ values: ciValues(values) }, 3).map(titleOf)).toEqual(objects.map(titleOf));
    });
  });
}

describe('the chart', () => {
  it.each<[what: string, values: Values, message: string]>([
    ['no values', {}, 'DATABASE_URL is not set'],
    [
      'no registry',
      { ...MINIMAL, image: {} },
      'image.registry is required: the registry to which you push the images, such as registry.example',
    ],
    [
      'generated and existing secrets',
      overlay(MINIMAL, { secrets: { generate: true } }),
      'set either secrets.existing or secrets.generate',
    ],
    [
      'bundled stores without generated passwords',
      overlay(ciValues('trial'), { secrets: { generate: false, values: SECRETS } }),
      'bundled stores use generated passwords: set secrets.generate=true',
    ],
    [
      'limited egress without PostgreSQL and Redis',
      overlay(MINIMAL, { networkPolicy: { egress: { enabled: true } } }),
      'networkPolicy.egress.controlPlane is required',
    ],
    [
      'limited egress of resolvers without Redis',
      overlay(MINIMAL, { networkPolicy: { egress: { enabled: true, controlPlane: [{}] } } }),
      'networkPolicy.egress.resolver is required',
    ],
    [
      'limited egress of block pages without Redis',
      overlay(MINIMAL, {
        networkPolicy: { egress: { enabled: true, controlPlane: [{}], resolver: [{}] } },
      }),
      'networkPolicy.egress.blockPage is required',
    ],
    [
      'secrets from two places',
      overlay(MINIMAL, { secrets: { values: SECRETS } }),
      'set either secrets.existing or secrets.values',
    ],
    [
      'a resolver without upstreams',
      overlay(MINIMAL, { resolver: { env: { UPSTREAMS: null } } }),
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

  it('puts commonLabels on every object and pod, and never in place of its own labels', () => {
    const commonLabels = { 'example.com/owner': 'dns', 'app.kubernetes.io/component': 'other' };
    const objects = render({ values: overlay(ciValues('openshift'), { commonLabels }) });
    const components = new Set<string | undefined>();
    for (const object of objects) {
      const { template } = (object['spec'] ?? {}) as { template?: { metadata?: object } };
      for (const { labels } of [
        object.metadata,
        ...(template?.metadata ? [template.metadata] : []),
      ] as {
        labels?: Record<string, string>;
      }[]) {
        expect(labels, titleOf(object)).toMatchObject({ 'example.com/owner': 'dns' });
        components.add(labels?.['app.kubernetes.io/component']);
      }
    }
    expect(components).not.toContain('other');
  });

  it('takes an image by its digest where one is set', () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const objects = render({
      values: overlay(MINIMAL, { image: { digest: { resolver: digest } } }),
    });
    const images = podsOf(objects).map(({ container }) => container.image);
    expect(images).toContain(`registry.example/weir/resolver:0.1.0@${digest}`);
    expect(images).toContain('registry.example/weir/block-page:0.1.0');
  });

  it('leaves the user of every pod to the cluster where it is null', () => {
    const objects = render({ values: ciValues('openshift') });
    expect(JSON.stringify(objects)).not.toMatch(/runAsUser|runAsGroup|fsGroup/);
    for (const { spec, component } of podsOf(objects)) {
      expect(spec.securityContext?.runAsNonRoot, component).toBe(true);
    }
  });

  it('adds variables, sources of variables and containers to pods', () => {
    const pods = podsOf(render({ values: ciValues('full') }));
    const controlPlane = pods.find(({ component }) => component === 'control-plane')!;
    expect(controlPlane.spec.containers.map(({ name }) => name)).toEqual(['control-plane', 'tail']);
    for (const pod of [controlPlane, pods.find(({ component }) => component === 'migrate')!]) {
      expect(pod.container.env).toContainEqual({
        name: 'NODE_EXTRA_CA_CERTS',
        value: '/extra/ca.crt',
      });
      expect(pod.container.envFrom).toEqual([{ configMapRef: { name: 'proxies' } }]);
    }
  });

  it('answers on every address of the node on its network, or on those that the operator names', () => {
    const env = (more: Values) =>
      podsOf(render({ values: overlay(ciValues('daemonset'), more) }))
        .find(({ component }) => component === 'resolver')!
        .container.env!.filter(({ name }) => name === 'DNS_HOST');
    expect(env({})).toEqual([
      { name: 'DNS_HOST', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } },
    ]);
    const named = { resolver: { env: { DNS_HOST: ['203.0.113.53', '2001:db8::53'] } } };
    expect(env(named)).toEqual([{ name: 'DNS_HOST', value: '203.0.113.53,2001:db8::53' }]);
  });

  it('takes names that YAML reads as numbers, such as that of an autonomous system', () => {
    const name = '64500';
    const values = overlay(MINIMAL, {
      fullnameOverride: 'weir',
      serviceAccountName: name,
      secrets: { existing: name },
      resolver: { priorityClassName: name, persistence: { storageClass: name } },
      controlPlane: {
        ingress: { enabled: true, host: 'a.example', className: name, tlsSecret: name },
      },
    });
    const objects = render({ values, name, namespace: name });
    expect(objects.flatMap(validationErrors)).toEqual([]);
    expect(objects.flatMap(({ metadata }) => typeof metadata.namespace)).not.toContain('number');
  });

  it('shortens a long release name and keeps the suffix', () => {
    const objects = render({ values: MINIMAL, name: 'a'.repeat(53) });
    for (const { metadata } of objects) expect(metadata.name.length).toBeLessThanOrEqual(63);
    expect(names(objects, 'StatefulSet')[0]).toMatch(/-resolver$/);
  });

  it('turns on the sets of public lists that are named', () => {
    const values = overlay(MINIMAL, { catalogue: { sets: ['urlhaus', 'oisd-ads'] } });
    const env = (objects: readonly KubernetesObject[]) => {
      const { spec } = findObject(objects, 'Deployment', 'weir-control-plane');
      return (spec as { template: ResolverPod }).template.spec.containers[0].env;
    };
    const variable = { name: 'CATALOGUE_SETS', value: 'urlhaus,oisd-ads' };
    expect(env(render({ values }))).toContainEqual(variable);
    const without = env(render({ values: MINIMAL })).map(({ name }) => name);
    expect(without).not.toContain('CATALOGUE_SETS');
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

  it('has each label once, when the labels of an object repeat common ones', () => {
    const labels = { release: 'prometheus' };
    const monitor = { enabled: true, labels };
    const values = overlay(MINIMAL, {
      commonLabels: { ...labels, grafana_dashboard: '1', 'weir/metrics': 'x' },
      monitoring: { serviceMonitor: monitor, prometheusRule: monitor, dashboard: monitor },
    });
    const found = render({ values }).filter(({ kind }) => /Monitor|Rule|ConfigMap/.test(kind));
    expect(found).toHaveLength(5);
    for (const { metadata } of found) expect(metadata.labels).toMatchObject(labels);
    const service = findObject(render({ values }), 'Service', 'weir-resolver-ops');
    expect(service.metadata.labels).toMatchObject({ 'weir/metrics': 'resolver' });
  });

  it.each([
    [{ secrets: { values: { DATABASE_URL: 'postgresql://db.example/weir' } } }, 'DATABASE_URL'],
    [{ fullnameOverride: 'my.weir' }, 'fullnameOverride'],
    [
      { secrets: { values: { OWNER_DATABASE_URL: 'postgresql://db.example/weir' } } },
      'OWNER_DATABASE_URL',
    ],
    [{ resolver: { autoscaling: { enabled: true, minReplicas: 13 } } }, 'minReplicas'],
    [{ blockPage: { env: { BLOCK_PAGE_HTTPS_PORT: 8081 } } }, 'must differ'],
    [{ controlPlane: { clientCaSecret: 'clients' } }, 'controlPlane.tlsSecret'],
    [{ controlPlane: { env: { MANAGEMENT_TLS_CLIENT_CA: '/a' } } }, 'controlPlane.tlsSecret'],
    [{ resolver: { env: { DNS_TLS_CERT: '/a' } } }, 'DNS_TLS_CERT and DNS_TLS_KEY belong together'],
    [{ resolver: { env: { DNS_TLS_KEY: '/a' } } }, 'DNS_TLS_CERT and DNS_TLS_KEY belong together'],
    [{ controlPlane: { env: { MANAGEMENT_TLS_KEY: '/a' } } }, 'belong together'],
    [{ controlPlane: { env: { FEED_TLS_CERT: '/a' } } }, 'belong together'],
    [{ resolver: { env: { FEED_CA: '/a' } } }, 'resolver.env.FEED_URL must begin with https://'],
    [{ blockPage: { env: { FEED_PINS: 'sha256/a' } } }, 'must begin with https://'],
    [
      {
        controlPlane: { feedTlsSecret: 'feed' },
        resolver: { env: { FEED_URL: 'http://feed.example' } },
      },
      'resolver.env.FEED_URL must begin with https://',
    ],
    [{ resolver: { env: { OPS_PORT: 5300 } } }, 'must differ'],
    [{ controlPlane: { env: { FEED_PORT: 8080 } } }, 'must differ'],
    [
      {
        resolver: {
          tlsSecret: 'dns',
          env: { DNS_TLS_PORT: 5853 },
          service: { ports: { tls: 53 } },
        },
      },
      'resolver.service.ports',
    ],
    [
      {
        resolver: { tlsSecret: 'dns', env: encrypted, service: { ports: { tls: 443 } } },
      },
      'resolver.service.ports',
    ],
    [
      {
        blockPage: {
          env: { BLOCK_PAGE_HTTPS_PORT: 8443 },
          service: { ports: { http: 443 } },
        },
      },
      'blockPage.service.ports',
    ],
    [
      { controlPlane: { extraEnv: [{ name: 'DRAIN_S', value: '30' }] } },
      'controlPlane.extraEnv: the container has DRAIN_S already',
    ],
    [
      { resolver: { extraEnv: [{ name: 'REDIS_URL', value: 'redis://redis.example' }] } },
      'resolver.extraEnv: the container has REDIS_URL already',
    ],
    [
      { migration: { extraEnv: [{ name: 'DATABASE_URL', value: 'postgres://db.example/weir' }] } },
      'migration.extraEnv: the container has DATABASE_URL already',
    ],
    [
      { resolver: { extraVolumes: [{ name: 'data', emptyDir: {} }] } },
      'resolver.extraVolumes: the pod has a volume data already',
    ],
    [
      { blockPage: { extraVolumeMounts: [{ name: 'own', mountPath: '/data' }] } },
      'blockPage.extraVolumeMounts: the container has a volume at /data already',
    ],
    [{ controlPlane: { env: { DEPLOYMENT_ID: 'north' } } }, 'DEPLOYMENT_ID must be the same'],
    [
      { resolver: { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } } },
      'resolver.autoscaling needs resolver.resources.requests.cpu',
    ],
    [
      { catalogue: { sets: ['a'] }, controlPlane: { env: { CATALOGUE_SETS: ['b'] } } },
      'CATALOGUE_SETS',
    ],
  ])('refuses values that contradict each other: %o', (wrong, what) => {
    expect(() => render({ values: overlay(ciValues('trial'), wrong) })).toThrow(what);
  });

  it('has every alert, but none about the absence of resolvers where it has none', () => {
    const alerts = (enabled: boolean) => {
      const values = { resolver: { enabled }, monitoring: { prometheusRule: { enabled: true } } };
      const rule = findObject(
        render({ values: overlay(MINIMAL, values) }),
        'PrometheusRule',
        'weir-alerts',
      );
      const { groups } = rule['spec'] as { groups: { rules: AlertRule[] }[] };
      return groups.flatMap(({ rules }) => rules);
    };
    expect(alerts(true)).toEqual(readRules());
    expect(alerts(false)).toEqual(
      readRules().filter(({ alert }) => alert !== 'WeirResolversAbsent'),
    );
  });

  it('lets only some networks reach the management API from outside, and pods see who calls', () => {
    const service = { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] };
    const objects = render({ values: overlay(MINIMAL, { controlPlane: { service } }) });
    expect(findObject(objects, 'Service', 'weir-control-plane')['spec']).toMatchObject({
      ...service,
      externalTrafficPolicy: 'Local',
    });
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
