import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from './objects/kubernetes-object.js';
import { podsOf } from './pods/pod.js';
import { render } from './render/render.js';
import { ciValues, overlay, type Values } from './render/values.js';
import { findObject } from './testing/find.js';

interface Rule {
  readonly ports: readonly { readonly port: string; readonly protocol?: string }[];
  readonly from?: readonly object[];
}

function rulesOf(objects: readonly KubernetesObject[], name: string): readonly Rule[] {
  return (findObject(objects, 'NetworkPolicy', name)['spec'] as { ingress: Rule[] }).ingress;
}

/** Ports that everybody may reach (open), and ports that only some peers may reach (closed). */
function reach(objects: readonly KubernetesObject[], name: string) {
  const ports = (rules: readonly Rule[]) =>
    rules.flatMap((rule) => rule.ports.map((one) => one.port));
  const rules = rulesOf(objects, name);
  const open = ports(rules.filter(({ from }) => from === undefined));
  const closed = ports(rules.filter(({ from }) => from !== undefined));
  return { open, closed };
}

const peersOf = (objects: readonly KubernetesObject[], name: string, port: string) =>
  rulesOf(objects, name).find((rule) => rule.ports.some((one) => one.port === port))?.from;

describe('the network policies', () => {
  const objects = render({ values: ciValues('trial') });

  it('open only the public ports to everybody', () => {
    expect(reach(objects, 'weir-control-plane')).toEqual({
      open: ['management'],
      closed: ['feed', 'ops'],
    });
    expect(reach(objects, 'weir-resolver')).toEqual({
      open: ['dns-udp', 'dns-tcp'],
      closed: ['ops'],
    });
    expect(reach(objects, 'weir-block-page')).toEqual({ open: ['http'], closed: ['ops'] });
    expect(reach(objects, 'weir-postgresql')).toEqual({ open: [], closed: ['postgresql'] });
    expect(reach(objects, 'weir-redis')).toEqual({ open: [], closed: ['redis'] });
  });

  it('cover every port of every pod that serves', () => {
    for (const { component, kind, container } of podsOf(objects)) {
      if (kind === 'Job') continue;
      const { open, closed } = reach(objects, `weir-${component}`);
      const ports = (container.ports ?? []).map(({ name }) => name);
      expect([...open, ...closed].sort()).toEqual([...ports].sort());
    }
  });

  it('set the protocol UDP for UDP ports', () => {
    const ports = rulesOf(objects, 'weir-resolver').flatMap((rule) => rule.ports);
    expect(ports.find(({ port }) => port === 'dns-udp')?.protocol).toBe('UDP');
  });

  it('let resolvers and block pages of the release follow the feed', () => {
    const components = (peersOf(objects, 'weir-control-plane', 'feed') ?? []).map(
      (peer) =>
        (peer as { podSelector: { matchLabels: Record<string, string> } }).podSelector.matchLabels[
          'app.kubernetes.io/component'
        ],
    );
    expect(components).toEqual(['resolver', 'block-page']);
  });

  it('allow the peers that the values name', () => {
    const peer = [{ ipBlock: { cidr: '198.51.100.0/24' } }];
    const values = { networkPolicy: { managementFrom: peer, feedFrom: peer, metricsFrom: peer } };
    const named = render({ values: overlay(ciValues('trial'), values) });
    expect(peersOf(named, 'weir-control-plane', 'management')).toEqual(peer);
    expect(peersOf(named, 'weir-control-plane', 'feed')).toEqual(expect.arrayContaining(peer));
    expect(peersOf(named, 'weir-redis', 'redis')).toEqual(expect.arrayContaining(peer));
    expect(peersOf(named, 'weir-resolver', 'ops')).toEqual(peer);
  });

  it('have no rule for a port without peers', () => {
    const values: Values = { networkPolicy: { metricsFrom: [] } };
    const named = render({ values: overlay(ciValues('trial'), values) });
    expect(reach(named, 'weir-resolver')).toEqual({ open: ['dns-udp', 'dns-tcp'], closed: [] });
  });
});
