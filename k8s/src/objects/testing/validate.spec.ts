import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from './kubernetes-object.js';
import { validationErrors } from './validate.js';

const service = (spec: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'dns' },
  spec,
});

describe('validationErrors', () => {
  it('finds no error in a valid object', () => {
    expect(
      validationErrors(service({ ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] })),
    ).toEqual([]);
  });

  it('finds a field that does not exist, at any depth', () => {
    expect(validationErrors(service({ ports: [{ port: 53, targetport: 5300 }] }))).toEqual([
      'Service dns: .spec.ports[0].targetport does not exist',
      'Service dns, Kubernetes 1.27: .spec.ports.0.targetport does not exist',
    ]);
  });

  it('finds a wrong type', () => {
    const [newest, oldest] = validationErrors(service({ ports: [{ port: '53' }] }));
    expect(newest).toMatch(/^Service dns: .*port must be integer/);
    expect(oldest).toBe('Service dns, Kubernetes 1.27: .spec.ports.0.port must be integer');
  });

  it('finds a missing field', () => {
    const [newest, oldest] = validationErrors(service({ ports: [{ name: 'dns' }] }));
    expect(newest).toMatch(/^Service dns: .*must have required property port/);
    expect(oldest).toMatch(/1\.27: \.spec\.ports\.0 must have required property 'port'/);
  });

  it('knows in which of the two versions a field is', () => {
    const pod = (container: object): KubernetesObject => ({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'dns' },
      spec: {
        selector: { matchLabels: {} },
        template: { spec: { containers: [{ name: 'dns', ...container }] } },
      },
    });
    // Kubernetes 1.27 brought the one, Kubernetes 1.28 the other.
    expect(validationErrors(pod({ resizePolicy: [] }))).toEqual([]);
    expect(validationErrors(pod({ restartPolicy: 'Always' }))).toEqual([
      'DaemonSet dns, Kubernetes 1.27: .spec.template.spec.containers.0.restartPolicy does not exist',
    ]);
  });

  it('knows the objects of the Prometheus Operator', () => {
    const rule: KubernetesObject = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'alerts' },
      spec: { groups: [{ name: 'weir', rules: [{ alert: 'Down', expression: 'up == 0' }] }] },
    };
    expect(validationErrors(rule)).toContain(
      'PrometheusRule alerts: .spec.groups[0].rules[0].expression does not exist',
    );
    expect(validationErrors(rule).join()).toContain('must have required property expr');
  });

  it('refuses an API version that it does not know', () => {
    const object = { apiVersion: 'v2', kind: 'Service', metadata: { name: 'dns' } };
    expect(validationErrors(object)).toEqual(['Service dns: v2 has no model in validate.ts']);
  });
});
