import { parseVariables, type Variable } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { COMPONENTS, isInSecret } from '../components.js';
import { render } from '../testing/render.js';
import { CI_VALUES, ciValues, overlay } from '../testing/values.js';
import { podsOf } from './testing/pod.js';
import { reportPods } from './testing/report.js';

const VARIABLES: ReadonlyMap<string, Readonly<Record<string, Variable<unknown>>>> = new Map(
  Object.values(COMPONENTS).map(({ name, variables }) => [name, variables]),
);

/** Of the full values. */
const EXTRA_VARIABLE = 'NODE_EXTRA_CA_CERTS';

/** Content of a Secret that an operator created. */
const EXISTING_SECRET: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://weir@postgresql.example/weir',
  REDIS_URL: 'redis://redis.example:6379',
  DOMAIN_HASH_KEY: '000102030405060708090a0b0c0d0e0f',
  FEED_TOKENS: 'a-token-of-the-feed',
  MANAGEMENT_TOKENS: 'a-token-of-the-management-api',
};

describe('resolvers and block pages', () => {
  const environmentOf = (values: string) => {
    const { pods } = reportPods(render({ values: ciValues(values) }));
    return (component: string) => pods.find((pod) => pod.component === component)!.environment;
  };

  it('have the same SCHEDULE_TIMEZONE, INSPECT_CNAME and UPSTREAMS', () => {
    const environment = environmentOf('full');
    for (const name of ['SCHEDULE_TIMEZONE', 'INSPECT_CNAME']) {
      expect(environment('resolver')[name]).toBeDefined();
      expect(environment('block-page')[name]).toBe(environment('resolver')[name]);
    }
    expect(environmentOf('minimal')('block-page')['UPSTREAMS']).toBe('192.0.2.53');
  });

  it('are explained by a control plane with the variables of the resolvers', () => {
    const environment = environmentOf('full');
    const ofResolver = environment('resolver');
    for (const name of ['SCHEDULE_TIMEZONE', 'BLOCK_PAGE_IPV4', 'INSPECT_CNAME']) {
      expect([name, ofResolver[name]]).toEqual([name, expect.any(String)]);
      expect([name, environment('control-plane')[name]]).toEqual([name, ofResolver[name]]);
    }
  });

  it('have different values when blockPage.env overrides them', () => {
    expect(environmentOf('full')('block-page')['UPSTREAMS']).toBe('192.0.2.55');
    const values = {
      resolver: { env: { INSPECT_CNAME: true } },
      blockPage: { env: { INSPECT_CNAME: false } },
    };
    const { pods } = reportPods(render({ values: overlay(ciValues('minimal'), values) }));
    const inspectCname = pods.map(({ component, environment }) => [
      component,
      environment['INSPECT_CNAME'],
    ]);
    expect(Object.fromEntries(inspectCname)).toMatchObject({
      resolver: 'true',
      'block-page': 'false',
    });
  });
});

for (const values of CI_VALUES) {
  describe(`processes with ${values} values`, () => {
    const objects = render({ values: ciValues(values) });
    const processes = podsOf(objects).filter(({ component }) => VARIABLES.has(component));
    const report = reportPods(objects);

    describe.each(processes)('the process of $component', ({ component, spec, container }) => {
      const variables = VARIABLES.get(component)!;
      const env = container.env ?? [];

      it('gets each variable once, and only variables that it reads', () => {
        const names = env.map(({ name }) => name).filter((name) => name !== EXTRA_VARIABLE);
        expect(names).toEqual([...new Set(names)]);
        expect(names.filter((name) => !(name in variables))).toEqual([]);
      });

      it('gets its secrets from the Secret', () => {
        for (const [name, variable] of Object.entries(variables)) {
          const given = env.find((one) => one.name === name);
          if (!isInSecret(name, variable)) continue;
          expect(given?.valueFrom?.secretKeyRef, name).toBeDefined();
        }
      });

      it('accepts the values of its variables', () => {
        const environment: Record<string, string> = {
          ...report.pods.find((pod) => pod.component === component)?.environment,
        };
        for (const { name, valueFrom } of env) {
          // Only the cluster knows these: the address of the pod, and a Secret that the operator created.
          if (valueFrom?.fieldRef) environment[name] = '192.0.2.1';
          if (valueFrom?.secretKeyRef) environment[name] ??= EXISTING_SECRET[name];
        }
        expect(() => parseVariables(variables, environment)).not.toThrow();
      });

      it('listens on the ports that its probes and Services use', () => {
        // Those of designated resolvers are the ports of the Service.
        const listening = env.filter(({ name }) => /^(?!DNS_DESIGNATED_).*_PORT$/.test(name));
        const ports = (container.ports ?? []).map(({ containerPort }) => String(containerPort));
        expect(new Set(listening.map(({ value }) => value))).toEqual(new Set(ports));
        for (const { name, value: host } of env.filter((one) => one.name.endsWith('_HOST'))) {
          expect(['0.0.0.0', '::', undefined], name).toContain(host);
        }
      });

      it('has enough time to drain and to stop', () => {
        const drain = Number(env.find(({ name }) => name === 'DRAIN_S')?.value);
        expect(drain).toBeGreaterThan(0);
        expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(drain + 10);
      });

      it('is spread over nodes and zones', () => {
        expect(spec.affinity).toBeDefined();
        expect(spec.topologySpreadConstraints?.length).toBeGreaterThan(0);
      });
    });
  });
}
