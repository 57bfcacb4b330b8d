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
  { databaseUrl, redisUrl }: Stores,
): readonly PlannedProcess[] {
  const { OPS_HOST, OPS_PORT, FEED_HOST, FEED_PORT } = configuration;
  const plan = (
    name: string,
    app: string,
    opsPort: number,
    environment: Readonly<Record<string, string>>,
  ): PlannedProcess => ({
    name,
    script: `apps/${app}/dist/main.js`,
    environment: {
      REDIS_URL: redisUrl,
      FEED_TOKENS: secrets.feedTokens.join(','),
      DOMAIN_HASH_KEY: secrets.domainHashKey,
      OPS_HOST,
      OPS_PORT: String(opsPort),
      ...environment,
    },
    readyUrl: `http://${reachableHost(OPS_HOST)}:${opsPort}/readyz`,
  });
  /** Variables that the stack has, too. */
  const same = (...names: (keyof StackConfiguration)[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, String(configuration[name])]));
  /** Of those that read the feed. */
  const following = (name: string): Record<string, string> => ({
    FEED_URL: `http://${reachableHost(FEED_HOST)}:${FEED_PORT}`,
    DATA_DIR: join(dataDir, name),
  });
  const controlPlane = plan('control-plane', 'control-plane', OPS_PORT, {
    DATABASE_URL: databaseUrl,
    MANAGEMENT_TOKENS: secrets.managementTokens.join(','),
    INCIDENT_KEYS: secrets.incidentKeys.join(','),
    ...same('MANAGEMENT_HOST', 'MANAGEMENT_PORT', 'MANAGEMENT_DOCS', 'MANAGEMENT_CONSOLE'),
    ...same('FEED_HOST', 'FEED_PORT'),
    // For the command line, which knows only what is here.
    ...(configuration.MANAGEMENT_TLS_CERT !== undefined && same('MANAGEMENT_TLS_CERT')),
  });
  const resolvers = resolverListeners(configuration).map(({ hosts, ports }, index) => {
    const name = `resolver-${index}`;
    return plan(name, 'resolver', OPS_PORT + FIRST_RESOLVER_OPS_OFFSET + index, {
      ...following(name),
      // Their ports may be the same.
      RESOLVER_NAME: `${hostname()}:${name}`,
      DNS_HOST: hosts.join(','),
      ...ports,
      ...same('RESOLVER_THREADS'),
      DNS_COOKIE_SECRETS: secrets.dnsCookieSecrets.join(','),
      OPS_TOKENS: secrets.opsTokens.join(','),
    });
  });
  const blockPage = plan('block-page', 'block-page', OPS_PORT + BLOCK_PAGE_OPS_OFFSET, {
    ...following('block-page'),
    INCIDENT_KEYS: secrets.incidentKeys.join(','),
    ...same('BLOCK_PAGE_HOST', 'BLOCK_PAGE_PORT'),
  });
  return [controlPlane, ...resolvers, blockPage];
}

const DNS_PORTS = ['DNS_PORT', 'DNS_TLS_PORT', 'DNS_HTTPS_PORT'] as const;

/** Where one resolver listens. */
export interface ResolverListeners {
  readonly hosts: readonly string[];
  /** Variable → port, for those that are on. */
  readonly ports: Readonly<Record<string, string>>;
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
      return first === undefined
        ? []
        : [[variable, String(isShared ? first + index : first)] as const];
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
