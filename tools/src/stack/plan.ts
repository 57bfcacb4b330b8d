import { join } from 'node:path';
import type { RequiredPort } from '../services/ports.js';
import {
  BLOCK_PAGE_OPS_OFFSET,
  FIRST_RESOLVER_OPS_OFFSET,
  STACK_OPS_OFFSET,
  type StackConfiguration,
} from './configuration.js';
import type { StackSecrets } from './secrets.js';

/** One process of Weir and how the stack starts it. */
export interface PlannedProcess {
  readonly name: string;
  /** Entry point, relative to the repository's root. */
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly readyUrl: string;
}

export interface Stores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** The processes with their variables. */
export function planProcesses(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  dataDir: string,
  stores: Stores,
): readonly PlannedProcess[] {
  const resolvers = Array.from({ length: configuration.RESOLVERS }, (_, index) =>
    planResolver(configuration, secrets, dataDir, stores, index),
  );
  return [
    planControlPlane(configuration, secrets, stores),
    ...resolvers,
    planBlockPage(configuration, secrets, dataDir, stores),
  ];
}

/** The ports that the processes need. */
export function requiredPorts(configuration: StackConfiguration): readonly RequiredPort[] {
  const { DNS_PORT, OPS_PORT, RESOLVERS } = configuration;
  const tcp = (
    hostVariable: 'MANAGEMENT_HOST' | 'FEED_HOST' | 'DNS_HOST' | 'BLOCK_PAGE_HOST' | 'OPS_HOST',
    port: number,
    variable: string,
  ): RequiredPort => {
    return { host: configuration[hostVariable], port, variable, hostVariable, protocol: 'tcp' };
  };
  const resolvers = Array.from({ length: RESOLVERS }, (_, index) => {
    const dns = tcp('DNS_HOST', DNS_PORT + index, 'DNS_PORT');
    const ops = tcp('OPS_HOST', resolverOpsPort(OPS_PORT, index), 'OPS_PORT');
    const secure = (['DNS_TLS_PORT', 'DNS_HTTPS_PORT'] as const).flatMap((variable) => {
      const first = configuration[variable];
      return first === undefined ? [] : [tcp('DNS_HOST', first + index, variable)];
    });
    return [dns, { ...dns, protocol: 'udp' as const }, ...secure, ops];
  });
  return [
    tcp('MANAGEMENT_HOST', configuration.MANAGEMENT_PORT, 'MANAGEMENT_PORT'),
    tcp('FEED_HOST', configuration.FEED_PORT, 'FEED_PORT'),
    tcp('OPS_HOST', OPS_PORT, 'OPS_PORT'),
    ...resolvers.flat(),
    tcp('BLOCK_PAGE_HOST', configuration.BLOCK_PAGE_PORT, 'BLOCK_PAGE_PORT'),
    tcp('OPS_HOST', OPS_PORT + BLOCK_PAGE_OPS_OFFSET, 'OPS_PORT'),
    tcp('OPS_HOST', OPS_PORT + STACK_OPS_OFFSET, 'OPS_PORT'),
  ];
}

/** The address for connecting to a listener of this machine: loopback for a wildcard address. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function planControlPlane(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  stores: Stores,
): PlannedProcess {
  return {
    name: 'control-plane',
    script: 'apps/control-plane/dist/main.js',
    environment: {
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      MANAGEMENT_HOST: configuration.MANAGEMENT_HOST,
      MANAGEMENT_PORT: String(configuration.MANAGEMENT_PORT),
      MANAGEMENT_TOKENS: secrets.managementTokens.join(','),
      MANAGEMENT_DOCS: configuration.MANAGEMENT_DOCS,
      DOMAIN_HASH_KEY: secrets.domainHashKey,
      FEED_HOST: configuration.FEED_HOST,
      FEED_PORT: String(configuration.FEED_PORT),
      FEED_TOKEN: secrets.feedToken,
      OPS_HOST: configuration.OPS_HOST,
      OPS_PORT: String(configuration.OPS_PORT),
    },
    readyUrl: readyUrl(configuration.OPS_HOST, configuration.OPS_PORT),
  };
}

function planResolver(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  dataDir: string,
  stores: Stores,
  index: number,
): PlannedProcess {
  const opsPort = resolverOpsPort(configuration.OPS_PORT, index);
  return {
    name: `resolver-${index}`,
    script: 'apps/resolver/dist/main.js',
    environment: {
      ...followerEnvironment(configuration, secrets, stores),
      DATA_DIR: join(dataDir, `resolver-${index}`),
      DNS_HOST: configuration.DNS_HOST,
      DNS_PORT: String(configuration.DNS_PORT + index),
      RESOLVER_THREADS: '1',
      ...ownPort('DNS_TLS_PORT', configuration.DNS_TLS_PORT, index),
      ...ownPort('DNS_HTTPS_PORT', configuration.DNS_HTTPS_PORT, index),
      OPS_HOST: configuration.OPS_HOST,
      OPS_PORT: String(opsPort),
    },
    readyUrl: readyUrl(configuration.OPS_HOST, opsPort),
  };
}

function planBlockPage(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  dataDir: string,
  stores: Stores,
): PlannedProcess {
  const { BLOCK_PAGE_HOST: host, OPS_HOST: opsHost } = configuration;
  const opsPort = configuration.OPS_PORT + BLOCK_PAGE_OPS_OFFSET;
  return {
    name: 'block-page',
    script: 'apps/block-page/dist/main.js',
    environment: {
      ...followerEnvironment(configuration, secrets, stores),
      DATA_DIR: join(dataDir, 'block-page'),
      BLOCK_PAGE_HOST: host,
      BLOCK_PAGE_PORT: String(configuration.BLOCK_PAGE_PORT),
      OPS_HOST: opsHost,
      OPS_PORT: String(opsPort),
    },
    readyUrl: readyUrl(opsHost, opsPort),
  };
}

/** Variables of every process that reads the feed. */
function followerEnvironment(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  stores: Stores,
): Record<string, string> {
  return {
    REDIS_URL: stores.redisUrl,
    FEED_URL: `http://${reachableHost(configuration.FEED_HOST)}:${configuration.FEED_PORT}`,
    FEED_TOKEN: secrets.feedToken,
    DOMAIN_HASH_KEY: secrets.domainHashKey,
  };
}

/** The port of resolver `index`, if the variable is set. */
function ownPort(
  variable: 'DNS_TLS_PORT' | 'DNS_HTTPS_PORT',
  first: number | undefined,
  index: number,
): Record<string, string> {
  return first === undefined ? {} : { [variable]: String(first + index) };
}

function readyUrl(host: string, port: number): string {
  return `http://${reachableHost(host)}:${port}/readyz`;
}

function resolverOpsPort(opsPort: number, index: number): number {
  return opsPort + FIRST_RESOLVER_OPS_OFFSET + index;
}
