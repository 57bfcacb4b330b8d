import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from './objects/testing/kubernetes-object.js';
import { podsOf } from './pods/testing/pod.js';
import { render } from './testing/render.js';
import { ciValues, overlay } from './testing/values.js';
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

const TEST_POD = {
  podSelector: {
    matchLabels: {
      'app.kubernetes.io/name': 'weir',
      'app.kubernetes.io/instance': 'weir',
      'app.kubernetes.io/component': 'test',
    },
  },
};

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
    expect(peersOf(named, 'weir-resolver', 'ops')).toEqual([...peer, TEST_POD]);
  });

  it('let nobody but the pod of helm test read metrics where metricsFrom is empty', () => {
    const named = render({
      values: overlay(ciValues('trial'), { networkPolicy: { metricsFrom: [] } }),
    });
    expect(peersOf(named, 'weir-resolver', 'ops')).toEqual([TEST_POD]);
  });

  it('leave outgoing connections alone by default', () => {
    for (const { spec } of objects.filter(({ kind }) => kind === 'NetworkPolicy')) {
      expect(spec).toMatchObject({ policyTypes: ['Ingress'] });
      expect(spec).not.toHaveProperty('egress');
    }
  });
});

describe('the network policies with limited egress', () => {
  interface Egress {
    readonly to: readonly { readonly podSelector?: object; readonly ipBlock?: { cidr: string } }[];
    readonly ports: readonly { readonly port: number | string; readonly protocol: string }[];
  }
  const objects = render({ values: ciValues('openshift') });
  /** Ports and protocols, for each address or component. */
  const egressOf = (name: string): Record<string, string[]> => {
    const { egress } = findObject(objects, 'NetworkPolicy', name)['spec'] as { egress: Egress[] };
    return Object.fromEntries(
      egress.map(({ to: [peer], ports }) => {
        const component = /component":"([a-z-]+)"/.exec(JSON.stringify(peer))?.[1];
        const where = peer.ipBlock?.cidr ?? component ?? 'names';
        return [where, ports.map(({ port, protocol }) => `${port} ${protocol}`)];
      }),
    );
  };
  const NAMES = { names: ['53 UDP', '53 TCP'] };
  const UPSTREAMS = { '2001:db8::53/128': ['5353 TCP', '5353 UDP'] };
  /** Block pages do not ask it. */
  const OVER_TLS = { '192.0.2.53/32': ['853 TCP'] };

  it('let each process reach what it needs, and nothing else', () => {
    expect(egressOf('weir-control-plane')).toEqual({
      ...NAMES,
      postgresql: ['postgresql TCP'],
      redis: ['redis TCP'],
    });
    const followed = { 'control-plane': ['feed TCP'], redis: ['redis TCP'] };
    const upstreams = { ...UPSTREAMS, ...OVER_TLS };
    expect(egressOf('weir-resolver')).toEqual({ ...NAMES, ...followed, ...upstreams });
    expect(egressOf('weir-block-page')).toEqual({ ...NAMES, ...followed, ...UPSTREAMS });
    expect(egressOf('weir-postgresql')).toEqual({});
    expect(egressOf('weir-redis')).toEqual({});
  });

  it.each([
    ['192.0.2.1', '192.0.2.1/32', 53],
    ['192.0.2.1:5353', '192.0.2.1/32', 5353],
    ['2001:db8::1', '2001:db8::1/128', 53],
    ['[2001:db8::1]', '2001:db8::1/128', 53],
    ['[2001:db8::1]:54', '2001:db8::1/128', 54],
    ['tls://[2001:db8::1]:8853#dns.example', '2001:db8::1/128', 8853],
    ['tls://192.0.2.1:8853#dns.example', '192.0.2.1/32', 8853],
  ])('let resolvers reach the upstream %s', (upstream, cidr, port) => {
    const env = { UPSTREAMS: [upstream] };
    const rendered = render({ values: overlay(ciValues('openshift'), { resolver: { env } }) });
    const { egress } = findObject(rendered, 'NetworkPolicy', 'weir-resolver')['spec'] as {
      egress: Egress[];
    };
    const rule = egress.find(({ to }) => to[0].ipBlock !== undefined);
    expect([rule?.to, rule?.ports[0]]).toEqual([
      [{ ipBlock: { cidr } }],
      { port, protocol: 'TCP' },
    ]);
  });

  it('have the rules of the values', () => {
    const full = render({ values: ciValues('full') });
    const { egress } = findObject(full, 'NetworkPolicy', 'filter-resolver')['spec'] as {
      egress: Egress[];
    };
    expect(egress.at(-1)).toEqual({
      to: [{ ipBlock: { cidr: '198.51.100.0/24' } }],
      ports: [{ port: 6379 }],
    });
  });
});
