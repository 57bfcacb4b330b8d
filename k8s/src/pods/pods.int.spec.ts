import { describe, expect, it } from 'vitest';
import { COMPONENTS } from '../components.js';
import { render } from '../testing/render.js';
import { CI_VALUES, ciValues } from '../testing/values.js';
import { type Pod, podsOf } from './testing/pod.js';
import { reportPods } from './testing/report.js';

interface ServiceSpec {
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly targetPort: string; readonly protocol?: string }[];
}

const PROCESSES = Object.values(COMPONENTS).map(({ name }) => name);

const isSelected = (selector: ServiceSpec['selector'], { labels }: Pod): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

for (const values of CI_VALUES) {
  describe(`pods with ${values} values`, () => {
    const objects = render({ values: ciValues(values) });
    const pods = podsOf(objects);
    const servers = pods.filter(({ kind }) => kind !== 'Job');
    const report = reportPods(objects);

    describe.each(pods)('$component', ({ component, spec, container, claims }) => {
      it('has no service account token and no service links', () => {
        expect(spec.automountServiceAccountToken).toBe(false);
        expect(spec.enableServiceLinks).toBe(false);
      });

      it('runs as one user with the fewest privileges', () => {
        const bindsLowPort = (container.ports ?? []).some(
          ({ containerPort }) => containerPort < 1024,
        );
        expect(spec.securityContext).toMatchObject({
          runAsNonRoot: !bindsLowPort,
          ...(values !== 'openshift' && {
            runAsUser: bindsLowPort ? 0 : expect.toSatisfy((user: number) => user > 0),
          }),
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'], ...(bindsLowPort && { add: ['NET_BIND_SERVICE'] }) },
        });
      });

      it('has no processes and no folders in common with its node', () => {
        expect([spec.hostPID, spec.hostIPC, spec.shareProcessNamespace]).toEqual(
          Array(3).fill(undefined),
        );
        const folders = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined);
        // That of the values, on which a resolver on the network of its node keeps the configuration.
        const own = { path: '/var/lib/weir', type: 'DirectoryOrCreate' };
        const expected = values === 'daemonset' && component === 'resolver' ? [own] : [];
        expect(folders.map(({ hostPath }) => hostPath)).toEqual(expected);
      });

      it('binds a port below 1024 only on the network of the node', () => {
        const bindsLowPort = (container.ports ?? []).some(
          ({ containerPort }) => containerPort < 1024,
        );
        expect(spec.hostNetwork ?? false).toBe(bindsLowPort);
      });

      it('has a memory limit and a CPU request', () => {
        expect(container.resources?.limits).toHaveProperty('memory');
        expect(container.resources?.requests).toHaveProperty('cpu');
      });

      it('mounts each of its volumes and no others', () => {
        const volumes = (spec.volumes ?? []).map(({ name }) => name);
        const mounts = (container.volumeMounts ?? []).map(({ name }) => name);
        expect([...volumes, ...claims].sort()).toEqual([...new Set(mounts)].sort());
      });

      it('gives each port a name of its own', () => {
        const ports = (container.ports ?? []).map(({ name }) => name);
        expect(ports).toEqual([...new Set(ports)]);
      });

      it('has no secret in plain text', () => {
        const secret = /PASSWORD|TOKEN|KEY|SECRET|_URL$/;
        const plainText = (container.env ?? []).filter(
          ({ name, value }) => value !== undefined && secret.test(name),
        );
        const files = [
          'MANAGEMENT_TLS_KEY',
          'FEED_TLS_KEY',
          'MANAGEMENT_TOKENS_FILE',
          'FEED_TOKENS_FILE',
          'DNS_TLS_KEY',
        ];
        const allowed = ['FEED_URL', ...files];
        expect(plainText.map(({ name }) => name).filter((name) => !allowed.includes(name))).toEqual(
          [],
        );
        const mentioned = JSON.stringify({ spec, env: container.env });
        for (const data of Object.values(report.secrets)) {
          for (const value of Object.values(data)) expect(mentioned).not.toContain(value);
        }
      });

      it('belongs to a known component', () => {
        expect([...PROCESSES, 'migrate', 'postgresql', 'redis']).toContain(component);
      });
    });

    describe.each(servers)('$component, which serves,', ({ container }) => {
      it('has all three probes, on ports that it has', () => {
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
          expect(container[probe], probe).toBeDefined();
          const port = container[probe]?.httpGet?.port ?? container[probe]?.tcpSocket?.port;
          if (port === undefined) expect(container[probe]?.exec).toBeDefined();
          else expect((container.ports ?? []).map(({ name }) => name)).toContain(port);
        }
      });
    });

    it('have the ports that their Services name', () => {
      const services = objects.filter(({ kind }) => kind === 'Service');
      expect(services.length).toBeGreaterThan(0);
      for (const { metadata, spec } of services) {
        const { selector, ports } = spec as ServiceSpec;
        const behind = servers.filter((pod) => isSelected(selector, pod));
        expect(
          behind.map(({ component }) => component),
          metadata.name,
        ).toHaveLength(1);
        for (const { targetPort, protocol = 'TCP' } of ports) {
          const found = behind[0].container.ports?.find(({ name }) => name === targetPort);
          expect(found, `${metadata.name}: ${targetPort}`).toBeDefined();
          expect(found?.protocol ?? 'TCP').toBe(protocol);
        }
      }
    });

    it('are selected by exactly one workload', () => {
      const workloads = objects.filter(({ kind }) =>
        /^(Deployment|StatefulSet|DaemonSet)$/.test(kind),
      );
      for (const { spec, metadata } of workloads) {
        const { selector } = spec as { selector: { matchLabels: Record<string, string> } };
        expect(
          pods.filter((pod) => isSelected(selector.matchLabels, pod)),
          metadata.name,
        ).toHaveLength(1);
      }
    });

    it('use images with a version tag', () => {
      for (const { container } of pods)
        expect(container.image).toMatch(/^[a-z0-9.:/-]+:[\w.-]+(?:@sha256:[0-9a-f]{64})?$/);
      expect(pods.map(({ container }) => container.image).join()).not.toContain('latest');
    });

    it('refer only to keys that the Secrets of the release have', () => {
      const { existing } = (ciValues(values)['secrets'] ?? {}) as { readonly existing?: string };
      for (const { container } of pods) {
        for (const { name, valueFrom } of container.env ?? []) {
          const reference = valueFrom?.secretKeyRef;
          if (reference === undefined || reference.name === existing) continue;
          const secret = report.secrets[reference.name ?? ''];
          if (!reference.optional) expect(secret, name).toHaveProperty([reference.key]);
        }
      }
    });
  });
}
