import { parseVariables } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { STACK_SCHEMA } from './configuration.js';
import { planProcesses, reachableHost, requiredPorts } from './plan.js';

const configuration = parseVariables(STACK_SCHEMA, { RESOLVERS: '3', DNS_HOST: '::1' });
const secrets = { managementTokens: ['a', 'b'], feedToken: 'f', domainHashKey: '00' };
const stores = { databaseUrl: 'postgresql://database', redisUrl: 'redis://redis' };

const resolversOf = (wanted: typeof configuration) =>
  planProcesses(wanted, secrets, '/data', stores).filter(({ name }) => name.startsWith('resolver'));

describe('the plan of the local stack', () => {
  it('runs one control plane, the configured number of resolvers, and a block page', () => {
    const names = planProcesses(configuration, secrets, '/data', stores).map(({ name }) => name);
    expect(names).toEqual([
      'control-plane',
      'resolver-0',
      'resolver-1',
      'resolver-2',
      'block-page',
    ]);
  });

  it('gives each resolver its own ports for TLS and HTTPS when they are configured', () => {
    const secure = { RESOLVERS: '2', DNS_TLS_PORT: '8853', DNS_HTTPS_PORT: '8443' };
    const wanted = parseVariables(STACK_SCHEMA, secure);
    const resolvers = resolversOf(wanted);
    expect(resolvers.map(({ environment }) => environment)).toMatchObject([
      { DNS_TLS_PORT: '8853', DNS_HTTPS_PORT: '8443' },
      { DNS_TLS_PORT: '8854', DNS_HTTPS_PORT: '8444' },
    ]);
    const ports = requiredPorts(wanted).map(({ port }) => port);
    expect(ports).toEqual(expect.arrayContaining([8853, 8854, 8443, 8444]));
    const [, plain] = planProcesses(configuration, secrets, '/data', stores);
    expect(plain.environment).not.toHaveProperty('DNS_TLS_PORT');
  });

  it('gives each resolver its own ports, and all of them the same key and feed', () => {
    const resolvers = resolversOf(configuration);
    expect(resolvers.map(({ environment }) => environment['DNS_PORT'])).toEqual([
      '5300',
      '5301',
      '5302',
    ]);
    expect(resolvers.map(({ environment }) => environment['DATA_DIR'])).toEqual([
      '/data/resolver-0',
      '/data/resolver-1',
      '/data/resolver-2',
    ]);
    expect(resolvers.map(({ readyUrl }) => readyUrl)).toEqual(
      [9100, 9101, 9102].map((port) => `http://127.0.0.1:${port}/readyz`),
    );
    for (const { environment } of resolvers) {
      expect(environment).toMatchObject({
        FEED_URL: 'http://127.0.0.1:8090',
        FEED_TOKEN: 'f',
        DOMAIN_HASH_KEY: '00',
      });
      expect(environment).not.toHaveProperty('DATABASE_URL');
      expect(environment).not.toHaveProperty('MANAGEMENT_TOKENS');
    }
  });

  it('gives the block page its ports, its folder, and the key and feed of the resolvers', () => {
    const blockPage = planProcesses(configuration, secrets, '/data', stores).at(-1);
    expect(blockPage).toMatchObject({
      name: 'block-page',
      readyUrl: 'http://127.0.0.1:9110/readyz',
      environment: {
        BLOCK_PAGE_PORT: '8081',
        DATA_DIR: '/data/block-page',
        DOMAIN_HASH_KEY: '00',
        FEED_URL: 'http://127.0.0.1:8090',
      },
    });
  });

  it('requires each port only once', () => {
    const wanted = requiredPorts(configuration).map(
      ({ host, port, protocol }) => `${protocol} ${host} ${port}`,
    );
    expect(new Set(wanted).size).toBe(wanted.length);
    expect(wanted).toHaveLength(3 + 3 * 3 + 2 + 1);
  });

  it('connects to wildcard listeners over loopback', () => {
    expect(['0.0.0.0', '::', '2001:db8::1', '192.0.2.1'].map(reachableHost)).toEqual([
      '127.0.0.1',
      '[::1]',
      '[2001:db8::1]',
      '192.0.2.1',
    ]);
  });
});
