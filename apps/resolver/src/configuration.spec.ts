import { ClientAddress } from '@weir/clients';
import { parseVariables, VariableError } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from './configuration.js';

const REQUIRED = {
  DOMAIN_HASH_KEY: '000102030405060708090a0b0c0d0e0f',
  REDIS_URL: 'redis://127.0.0.1:6379',
  FEED_URL: 'http://127.0.0.1:8090',
  FEED_TOKENS: 'a-token-of-the-feed',
};
const parse = (environment: Record<string, string> = {}) =>
  parseVariables(SCHEMA, { ...REQUIRED, ...environment });

function faultOf(environment: Record<string, string>): string {
  try {
    parse(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(VariableError);
    return (error as Error).message;
  }
  throw new Error('no error');
}

it('can be sent to other threads as it is', () => {
  const configuration = parse({
    FEED_URL: 'https://127.0.0.1:8090',
    FEED_CA: '/etc/ca.pem',
    FEED_PINS: `sha256/${Buffer.alloc(32).toString('base64')}`,
    DATA_DIR: '/var/lib/weir',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    UPSTREAMS: 'tls://192.0.2.1#dns.example',
    DNS_PROXY_PROTOCOL_FROM: '192.0.2.0/24',
    DNS_COOKIE_SECRETS: '000102030405060708090a0b0c0d0e0f',
    DNSTAP_ENDPOINT: 'unix:/run/dnstap.sock',
    BLOCK_PAGE_ADDRESSES: '{"7":["192.0.2.7"]}',
  });
  expect(structuredClone(configuration)).toEqual(configuration);
});

function isAllowed(address: string): boolean {
  const client = new ClientAddress();
  expect(client.set(address, 0)).toBe(true);
  return parse().DNS_ALLOWED_CLIENTS.has(client);
}

describe('SCHEMA', () => {
  it('has the documented defaults', () => {
    const configuration = parse();
    expect(configuration).toMatchObject({
      DNS_HOST: ['127.0.0.1'],
      DNS_PORT: 5300,
      UPSTREAMS: undefined,
      BLOCK_PAGE_IPV4: ['127.0.0.1'],
      BLOCK_PAGE_IPV6: ['::1'],
      BLOCK_PAGE_ADDRESSES: new Map(),
      BLOCK_TTL: 10,
      CACHE_SIZE_MB: 64,
      CACHE_MIN_TTL: 0,
      CACHE_MAX_TTL: undefined,
      CLIENT_QUERY_RATE: 0,
      CLIENT_ERROR_RATE: 50,
      CLIENT_TCP_CONNECTIONS: 128,
      CLIENT_UPSTREAM_QUERIES: 256,
      CLIENT_WAITING_QUERIES: 1024,
      INSPECT_CNAME: true,
      LOCAL_ZONES: true,
      BLOCK_RESOLVER_DISCOVERY: true,
      BLOCK_REBINDING: false,
      REBINDING_ALLOWED_ZONES: ['home.arpa', 'internal', 'local'],
      SCHEDULE_TIMEZONE: 'UTC',
      QUERY_LOG_SAMPLING: 0,
      QUERY_LOG_NAMES: false,
      OPS_PORT: 9090,
      LOG_LEVEL: 'info',
    });
  });

  it.each(['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.127.0.1', '::1', 'fd00::1'])(
    'serves %s without a profile by default (decisions §7)',
    (address) => {
      expect(isAllowed(address)).toBe(true);
    },
  );

  it.each(['192.0.2.1', '100.128.0.1', '172.32.0.1', '2001:db8::1'])(
    'does not serve %s without a profile by default',
    (address) => {
      expect(isAllowed(address)).toBe(false);
    },
  );

  it.each([
    ['unix:/run/dnstap/socket', { path: '/run/dnstap/socket' }],
    ['tcp://192.0.2.1:6000', { host: '192.0.2.1', port: 6000 }],
    ['tcp://dnstap.example:6000', { host: 'dnstap.example', port: 6000 }],
    ['tcp://[2001:db8::1]:6000', { host: '2001:db8::1', port: 6000 }],
  ])('parses the dnstap receiver %s', (text, endpoint) => {
    expect(parse({ DNSTAP_ENDPOINT: text }).DNSTAP_ENDPOINT).toEqual(endpoint);
  });

  it.each([
    'unix:socket',
    'tcp://192.0.2.1',
    'tcp://192.0.2.1:0',
    'udp://192.0.2.1:6000',
    '/run/socket',
  ])('refuses the dnstap receiver %s', (text) => {
    const fault = 'DNSTAP_ENDPOINT must be unix:/path or tcp://host:port';
    expect(faultOf({ DNSTAP_ENDPOINT: text })).toBe(fault);
  });

  it('parses upstreams and block pages', () => {
    const configuration = parse({
      UPSTREAMS: '192.0.2.53,[2001:db8::53]:5353',
      BLOCK_PAGE_ADDRESSES: '{"7":["192.0.2.7","2001:db8::7"],"0":["192.0.2.8"]}',
    });
    expect(configuration.UPSTREAMS).toEqual([
      { address: '192.0.2.53', port: 53 },
      { address: '2001:db8::53', port: 5353 },
    ]);
    expect(configuration.BLOCK_PAGE_ADDRESSES).toEqual(
      new Map([
        [7, ['192.0.2.7', '2001:db8::7']],
        [0, ['192.0.2.8']],
      ]),
    );
  });

  it.each([
    ['BLOCK_REBINDING', 'on'],
    ['REBINDING_ALLOWED_ZONES', 'plex.direct,'],
    ['REBINDING_ALLOWED_ZONES', '192.168.0.0/16'],
    ['DNS_PORT', '65536'],
    ['DNS_HOST', 'localhost'],
    ['DNS_HOST', '192.0.2.1,192.0.2.1'],
    ['DNS_HOST', '::,::1'],
    ['UPSTREAMS', 'resolver.example'],
    ['UPSTREAMS', Array.from({ length: 17 }, () => '192.0.2.1').join(',')],
    ['BLOCK_PAGE_IPV4', '2001:db8::1'],
    ['BLOCK_PAGE_IPV6', Array.from({ length: 9 }, () => '2001:db8::1').join(',')],
    ['BLOCK_PAGE_ADDRESSES', '["192.0.2.7"]'],
    ['BLOCK_PAGE_ADDRESSES', '{"7":'],
    ['BLOCK_PAGE_ADDRESSES', '{"07":["192.0.2.7"]}'],
    ['BLOCK_PAGE_ADDRESSES', '{"2147483648":["192.0.2.7"]}'],
    ['BLOCK_PAGE_ADDRESSES', '{"7":[]}'],
    ['BLOCK_PAGE_ADDRESSES', '{"7":["page.example"]}'],
    ['BLOCK_PAGE_ADDRESSES', JSON.stringify({ 7: Array.from({ length: 9 }, () => '192.0.2.7') })],
    ['BLOCK_TTL', '-1'],
    ['CACHE_SIZE_MB', '0'],
    ['CACHE_SIZE_MB', '4097'],
    ['CLIENT_QUERY_RATE', '-1'],
    ['CLIENT_ERROR_RATE', 'many'],
    ['CLIENT_TCP_CONNECTIONS', '0'],
    ['CLIENT_UPSTREAM_QUERIES', '0'],
    ['CLIENT_WAITING_QUERIES', '16385'],
    ['INSPECT_CNAME', 'yes'],
    ['LOCAL_ZONES', '1'],
    ['BLOCK_RESOLVER_DISCOVERY', 'on'],
    ['SCHEDULE_TIMEZONE', 'Mars/Olympus'],
    ['DOMAIN_HASH_KEY', 'abc'],
    ['FEED_TOKENS', 'short'],
    ['REDIS_URL', 'http://127.0.0.1'],
    ['LOG_LEVEL', 'loud'],
  ])('reports an invalid %s in one line that names it', (name, value) => {
    const message = faultOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name} must be `));
    expect(message).not.toContain('\n');
  });

  it.each(['DNS_TLS_PORT', 'DNS_HTTPS_PORT', 'DNS_TLS_KEY'])(
    'names the certificate that %s needs',
    (name) => {
      expect(faultOf({ [name]: '853' })).toBe(`DNS_TLS_CERT must be given with ${name}`);
    },
  );
});
