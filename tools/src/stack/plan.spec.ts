import { parseVariables } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { STACK_SCHEMA } from './configuration.js';
import { planProcesses, reachableHost } from './plan.js';

const configuration = parseVariables(STACK_SCHEMA, { RESOLVERS: '3', DNS_HOST: '::1' });
const secrets = {
  managementTokens: ['a', 'b'],
  feedTokens: ['f'],
  opsTokens: ['o'],
  dnsCookieSecrets: ['c', 'd'],
  incidentKeys: ['i', 'j'],
  domainHashKey: '00',
};
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
    const names = new Set(resolvers.map(({ environment }) => environment['RESOLVER_NAME']));
    expect(names.size).toBe(3);
    expect(resolvers.map(({ readyUrl }) => readyUrl)).toEqual(
      [9100, 9101, 9102].map((port) => `http://127.0.0.1:${port}/readyz`),
    );
    for (const { environment } of resolvers) {
      expect(environment).toMatchObject({
        FEED_URL: 'http://127.0.0.1:8090',
        FEED_TOKENS: 'f',
        DOMAIN_HASH_KEY: '00',
        OPS_TOKENS: 'o',
        DNS_COOKIE_SECRETS: 'c,d',
        RESOLVER_THREADS: '1',
      });
      expect(environment).not.toHaveProperty('DATABASE_URL');
      expect(environment).not.toHaveProperty('MANAGEMENT_TOKENS');
    }
  });

  it('lets all resolvers listen on all addresses, on ports of their own', () => {
    const wanted = parseVariables(STACK_SCHEMA, { DNS_HOST: '127.0.0.1,::1' });
    expect(resolversOf(wanted).map(({ environment }) => environment)).toMatchObject([
      { DNS_HOST: '127.0.0.1,::1', DNS_PORT: '5300' },
      { DNS_HOST: '127.0.0.1,::1', DNS_PORT: '5301' },
    ]);
  });

  it('gives each resolver its own addresses and all of them the same ports', () => {
    const wanted = parseVariables(STACK_SCHEMA, {
      DNS_HOST: '192.0.2.53,2001:db8::53 ; 192.0.2.54,2001:db8::54',
      DNS_PORT: '53',
      DNS_TLS_PORT: '853',
      RESOLVER_THREADS: '4',
    });
    const same = { DNS_PORT: '53', DNS_TLS_PORT: '853', RESOLVER_THREADS: '4' };
    expect(resolversOf(wanted).map(({ environment }) => environment)).toMatchObject([
      { DNS_HOST: '192.0.2.53,2001:db8::53', ...same },
      { DNS_HOST: '192.0.2.54,2001:db8::54', ...same },
    ]);
  });

  it('refuses lists of addresses that are not as many as the resolvers', () => {
    const wanted = parseVariables(STACK_SCHEMA, {
      DNS_HOST: '192.0.2.53;192.0.2.54',
      RESOLVERS: '3',
    });
    expect(() => resolversOf(wanted)).toThrow(
      'DNS_HOST has 2 lists of addresses for 3 resolvers; set RESOLVERS to 2, or give each resolver a list',
    );
  });

  it.each([
    ['192.0.2.53,192.0.2.53', '192.0.2.53 is there twice'],
    ['192.0.2.53;192.0.2.53', '192.0.2.53 is there twice'],
    ['0.0.0.0,192.0.2.53', '0.0.0.0 includes 192.0.2.53'],
    ['2001:db8::53;::', ':: includes 2001:db8::53'],
    ['192.0.2.53;', 'an item is empty'],
    ['localhost', '"localhost" is not one'],
  ])('refuses DNS_HOST=%s', (DNS_HOST, reason) => {
    expect(() => parseVariables(STACK_SCHEMA, { DNS_HOST })).toThrow(reason);
  });

  it.each(['0.0.0.0,::', '::,192.0.2.53', '0.0.0.0,2001:db8::53'])(
    'takes DNS_HOST=%s: the wildcard address of one family beside addresses of the other',
    (DNS_HOST) => {
      expect(parseVariables(STACK_SCHEMA, { DNS_HOST }).DNS_HOST).toEqual([DNS_HOST.split(',')]);
    },
  );

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

  it('connects to wildcard listeners over loopback', () => {
    expect(['0.0.0.0', '::', '2001:db8::1', '192.0.2.1'].map(reachableHost)).toEqual([
      '127.0.0.1',
      '[::1]',
      '[2001:db8::1]',
      '192.0.2.1',
    ]);
  });
});
