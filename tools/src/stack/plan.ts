import { StartError } from '@weir/ops';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  BLOCK_PAGE_OPS_OFFSET,
  FIRST_RESOLVER_OPS_OFFSET,
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
  /** See `MigrateOptions`. */
  readonly ownerUrl?: string | undefined;
  readonly redisUrl: string;
}

/** The processes with their variables. */
export function planProcesses(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  dataDir: string,
  stores: Stores,
): readonly PlannedProcess[] {
  const resolvers = resolverListeners(configuration).map((listeners, index) =>
    planResolver(configuration, secrets, dataDir, stores, listeners, index),
  );
  return [
    planControlPlane(configuration, secrets, stores),
    ...resolvers,
    planBlockPage(configuration, secrets, dataDir, stores),
  ];
}

const DNS_PORTS = ['DNS_PORT', 'DNS_TLS_PORT', 'DNS_HTTPS_PORT'] as const;

/** Where one resolver listens. */
export interface ResolverListeners {
  readonly hosts: readonly string[];
  /** Variable → port, for those that are on. */
  readonly ports: Readonly<Record<string, number>>;
}

/**
 * Where each resolver listens: all on the same addresses with ports of their own, or each on its own addresses with
 * the same ports. @throws StartError when `DNS_HOST` and `RESOLVERS` do not fit together.
 */
export function resolverListeners(configuration: StackConfiguration): readonly ResolverListeners[] {
  const { DNS_HOST: groups, RESOLVERS: count } = configuration;
  const isShared = groups.length === 1;
  if (!isShared && groups.length !== count) {
    throw new StartError(
      `DNS_HOST has ${groups.length} lists of addresses for ${count} resolvers; set RESOLVERS to ${groups.length}, or give each resolver a list`,
    );
  }
  return Array.from({ length: count }, (_, index) => {
    const ports = DNS_PORTS.flatMap((variable) => {
      const first = configuration[variable];
      return first === undefined ? [] : [[variable, isShared ? first + index : first] as const];
    });
    return { hosts: groups[isShared ? 0 : index], ports: Object.fromEntries(ports) };
  });
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
      FEED_TOKENS: secrets.feedTokens.join(','),
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
  { hosts, ports }: ResolverListeners,
  index: number,
): PlannedProcess {
  const opsPort = resolverOpsPort(configuration.OPS_PORT, index);
  return {
    name: `resolver-${index}`,
    script: 'apps/resolver/dist/main.js',
    environment: {
      ...followerEnvironment(configuration, secrets, stores),
      DATA_DIR: join(dataDir, `resolver-${index}`),
      // Their ports may be the same.
      RESOLVER_NAME: `${hostname()}:resolver-${index}`,
      DNS_HOST: hosts.join(','),
      ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
      RESOLVER_THREADS: String(configuration.RESOLVER_THREADS),
      DNS_COOKIE_SECRETS: secrets.dnsCookieSecrets.join(','),
      OPS_TOKENS: secrets.opsTokens.join(','),
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
    FEED_TOKENS: secrets.feedTokens.join(','),
    DOMAIN_HASH_KEY: secrets.domainHashKey,
  };
}

function readyUrl(host: string, port: number): string {
  return `http://${reachableHost(host)}:${port}/readyz`;
}

function resolverOpsPort(opsPort: number, index: number): number {
  return opsPort + FIRST_RESOLVER_OPS_OFFSET + index;
}
