import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from './kubernetes-object.js';
import { faultsOf } from './validate.js';

const service = (spec: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'dns' },
  spec,
});

describe('faultsOf', () => {
  it('finds nothing wrong with a sound object', () => {
    expect(faultsOf(service({ ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] }))).toEqual([]);
  });

  it('finds a field that does not exist, however deep', () => {
    expect(faultsOf(service({ ports: [{ port: 53, targetport: 5300 }] }))).toEqual([
      'Service dns: .spec.ports[0].targetport is no field',
    ]);
  });

  it('finds a wrong type', () => {
    const [fault] = faultsOf(service({ ports: [{ port: '53' }] }));
    expect(fault).toMatch(/^Service dns: .*port must be integer/);
  });

  it('finds a missing field', () => {
    const [fault] = faultsOf(service({ ports: [{ name: 'dns' }] }));
    expect(fault).toMatch(/^Service dns: .*must have required property port/);
  });

  it('knows the objects of the Prometheus Operator', () => {
    const rule: KubernetesObject = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'alerts' },
      spec: { groups: [{ name: 'weir', rules: [{ alert: 'Down', expression: 'up == 0' }] }] },
    };
    expect(faultsOf(rule)).toContain(
      'PrometheusRule alerts: .spec.groups[0].rules[0].expression is no field',
    );
    expect(faultsOf(rule).join()).toContain('must have required property expr');
  });

  it('refuses a kind that it does not know', () => {
    const object = { apiVersion: 'v2', kind: 'Service', metadata: { name: 'dns' } };
    expect(faultsOf(object)).toEqual(['Service dns: v2 is not known here']);
  });
});
