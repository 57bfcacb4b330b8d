import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:dgram';
import { join } from 'node:path';
import { migrate } from '../migrate/migrate.js';
import { withRuntimeRole } from '../services/postgres.js';
import { CatalogueFolder } from './catalogue-folder.js';
import {
  type DeploymentPorts,
  findDeploymentPorts,
  type ProcessCounts,
} from './deployment-ports.js';
import { BALANCER_ADDRESS } from './dns-client.js';
import { ManagementClient } from './management-client.js';
import { DEFAULT_PAGE_ADDRESS, renderPageAddresses } from './page-addresses.js';
import { DeploymentPostgres } from './postgres.js';
import type { Random } from './random.js';
import { RedisProxy } from './redis-proxy.js';
import { DeploymentRedis } from './redis.js';
import { TcpProxy } from './tcp-proxy.js';
import { startUpstream } from './upstream.js';
import { WeirProcess } from './weir-process.js';

export interface DeploymentOptions extends ProcessCounts {
  /** The repository, compiled. */
  readonly root: string;
  /** An empty folder for data and logs. */
  readonly folder: string;
  /** Variables for every process, in addition to its own. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Variables for one replica, in place of its own. */
  readonly replicaVariables?: (replica: number) => Readonly<Record<string, string>>;
  /** Variables for the resolvers, in place of their own. */
  readonly resolverVariables?: (resolver: number) => Readonly<Record<string, string>>;
  /** For the faults of the Redis proxy. */
  readonly random: Random;
  readonly onUnexpectedExit: (explanation: string) => void;
  /** For measurements: no proxies. */
  readonly withoutProxies?: boolean;
  /** Whether PostgreSQL syncs to disk, as in production; default: yes. Killed processes lose nothing without it. */
  readonly fsync?: boolean;
}

/** So long a resolver that was lost without a goodbye counts in "m" of `X-Config-Applied` (decisions §10). */
export const MISSING_RESOLVER_MS = 20_000;

/** A deployment of real processes on loopback, with proxies between them that can inject faults. */
export class Deployment {
  replicas: readonly WeirProcess[] = [];
  readonly resolvers: readonly WeirProcess[];
  readonly blockPages: readonly WeirProcess[];
  readonly dnsPorts: readonly number[];
  readonly managementPorts: readonly number[];
  readonly pagePorts: readonly number[];
  readonly clients: readonly ManagementClient[];
  readonly redisProxy: RedisProxy;
  readonly postgres: DeploymentPostgres;
  /** With the role of the control planes. */
  private databaseUrl = '';
  readonly redis: DeploymentRedis;
  readonly catalogue: CatalogueFolder;
  /** Load balancer in front of the feed API: each connection goes to the next ready replica. */
  readonly feedProxy: TcpProxy;
  /** Between each replica and PostgreSQL. */
  readonly postgresProxies: readonly TcpProxy[];
  /** Between each resolver and all that it hears of the control plane: Redis and the feed. */
  readonly resolverLinks: readonly ResolverLinks[];
  private upstream: Socket | null = null;
  readonly deploymentId = 'test';
  readonly secrets = {
    token: randomBytes(24).toString('hex'),
    feedToken: randomBytes(24).toString('hex'),
    hashKey: randomBytes(16).toString('hex'),
    redisPassword: randomBytes(24).toString('hex'),
  };

  private constructor(
    private readonly options: DeploymentOptions,
    private readonly ports: DeploymentPorts,
  ) {
    const { folder } = options;
    this.postgres = new DeploymentPostgres({
      folder: join(folder, 'postgres'),
      logFile: this.logFile('postgres'),
      port: ports.postgres,
      fsync: options.fsync ?? true,
    });
    this.redis = new DeploymentRedis({
      folder: join(folder, 'redis'),
      logFile: this.logFile('redis'),
      port: ports.redis,
      standbyPort: ports.standbyRedis,
      password: this.secrets.redisPassword,
    });
    this.catalogue = new CatalogueFolder(join(folder, 'catalogue'));
    this.dnsPorts = ports.dns;
    this.managementPorts = ports.management;
    this.pagePorts = ports.page;
    this.redisProxy = new RedisProxy(() => this.redis.port, options.random);
    this.resolvers = ports.dns.map((_, i) => this.resolver(i));
    this.blockPages = ports.page.map((_, i) => this.blockPage(i));
    this.clients = ports.management.map((port) => new ManagementClient(port, this.secrets.token));
    let turn = 0;
    this.feedProxy = new TcpProxy(() => {
      const ready = ports.feed.filter((_, i) => this.replicas[i]?.up ?? false);
      return ready[turn++ % ready.length];
    });
    this.postgresProxies = ports.postgresProxies.map(() => new TcpProxy(() => ports.postgres));
    this.resolverLinks = ports.dns.map(() => ({
      redis: new TcpProxy(() => ports.redisProxy),
      feed: new TcpProxy(() => ports.feedProxy),
    }));
  }

  static async create(options: DeploymentOptions): Promise<Deployment> {
    return new Deployment(options, await findDeploymentPorts(options));
  }

  /** Starts everything; each part is ready when this resolves. */
  async start(): Promise<void> {
    this.catalogue.renew();
    this.upstream = await startUpstream(this.ports.upstream);
    await this.redisProxy.listen(this.ports.redisProxy);
    await this.feedProxy.listen(this.ports.feedProxy);
    await Promise.all(
      this.postgresProxies.map((proxy, i) => proxy.listen(this.ports.postgresProxies[i] ?? 0)),
    );
    await Promise.all(
      this.resolverLinks.flatMap(({ redis, feed }, i) => [
        redis.listen(this.ports.resolverRedis[i] ?? 0),
        feed.listen(this.ports.resolverFeed[i] ?? 0),
      ]),
    );
    await Promise.all([this.postgres.start(), this.redis.start()]);
    this.databaseUrl = withRuntimeRole(this.postgres.url);
    await migrate({
      databaseUrl: this.databaseUrl,
      ownerUrl: this.postgres.url,
      folder: join(this.options.root, 'prisma/migrations'),
    });
    this.replicas = this.ports.management.map((_, i) => this.replica(i));
    await Promise.all(this.processes.map((one) => one.start()));
  }

  /** Stops everything that was started. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.close();
    await Promise.all(this.processes.map((one) => one.kill()));
    const links = this.resolverLinks.flatMap(({ redis, feed }) => [redis, feed]);
    const proxies = [this.feedProxy, ...this.postgresProxies, ...links];
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await this.redisProxy.close();
    await Promise.all([this.postgres.stop('SIGINT'), this.redis.kill()]);
    this.upstream?.close();
  }

  /** Redis fails over to a replica, and all connections to it break off. */
  async failOverRedis(): Promise<void> {
    await this.redis.failOver();
    this.redisProxy.cut(1);
  }

  /** The folder in which a resolver keeps its configuration. */
  dataFolder(resolver: number): string {
    return join(this.options.folder, `resolver-${resolver}`);
  }

  logFile(name: string): string {
    return join(this.options.folder, `${name}.log`);
  }

  private get processes(): readonly WeirProcess[] {
    return [...this.replicas, ...this.resolvers, ...this.blockPages];
  }

  /** The URL that the processes of Weir use. */
  get redisUrl(): string {
    const port = this.options.withoutProxies === true ? this.redis.port : this.ports.redisProxy;
    return `redis://:${this.secrets.redisPassword}@127.0.0.1:${port}`;
  }

  get feedUrl(): string {
    return `http://127.0.0.1:${this.ports.feedProxy}`;
  }

  private databaseUrlOf(replica: number): string {
    if (this.options.withoutProxies === true) return this.databaseUrl;
    const url = new URL(this.databaseUrl);
    url.port = String(this.ports.postgresProxies[replica]);
    return url.href;
  }

  /** A resolver reaches Redis and the feed through proxies of its own. */
  private linkVariables(resolver: number): Record<string, string> {
    if (this.options.withoutProxies === true) return { FEED_URL: this.feedUrl };
    const redisUrl = new URL(this.redisUrl);
    redisUrl.port = String(this.ports.resolverRedis[resolver]);
    return {
      REDIS_URL: redisUrl.href,
      FEED_URL: `http://127.0.0.1:${this.ports.resolverFeed[resolver]}`,
    };
  }

  private replica(i: number): WeirProcess {
    const { ports, secrets } = this;
    return this.process(
      `control-plane-${i}`,
      'apps/control-plane/dist/main.js',
      ports.replicaOps[i],
      {
        DATABASE_URL: this.databaseUrlOf(i),
        MANAGEMENT_PORT: String(ports.management[i]),
        MANAGEMENT_TOKENS: secrets.token,
        FEED_PORT: String(ports.feed[i]),
        CATALOGUE: this.catalogue.path,
        CATALOGUE_INTERVAL_MS: '1000',
        MISSING_RESOLVER_S: String(MISSING_RESOLVER_MS / 1000),
        ...this.options.replicaVariables?.(i),
      },
    );
  }

  private resolver(i: number): WeirProcess {
    const { ports } = this;
    return this.process(`resolver-${i}`, 'apps/resolver/dist/main.js', ports.resolverOps[i], {
      DNS_PORT: String(ports.dns[i]),
      DNS_PROXY_PROTOCOL_FROM: BALANCER_ADDRESS,
      DNS_ALLOWED_CLIENTS: '127.0.0.0/8,2001:db8::/32',
      UPSTREAMS: `127.0.0.1:${ports.upstream}`,
      BLOCK_PAGE_IPV4: DEFAULT_PAGE_ADDRESS,
      BLOCK_PAGE_ADDRESSES: renderPageAddresses(),
      ...this.linkVariables(i),
      DATA_DIR: this.dataFolder(i),
      ...this.options.resolverVariables?.(i),
    });
  }

  private blockPage(i: number): WeirProcess {
    const { ports } = this;
    return this.process(`block-page-${i}`, 'apps/block-page/dist/main.js', ports.pageOps[i], {
      BLOCK_PAGE_PORT: String(ports.page[i]),
      BLOCK_PAGE_CLIENT_RATE: '0',
      UPSTREAMS: `127.0.0.1:${ports.upstream}`,
      FEED_URL: this.feedUrl,
    });
  }

  private process(
    name: string,
    script: string,
    opsPort: number | undefined,
    environment: Readonly<Record<string, string>>,
  ): WeirProcess {
    return new WeirProcess({
      name,
      script,
      root: this.options.root,
      opsPort: opsPort ?? 0,
      logFile: this.logFile(name),
      onUnexpectedExit: this.options.onUnexpectedExit,
      environment: {
        FEED_TOKENS: this.secrets.feedToken,
        ...this.options.variables,
        REDIS_URL: this.redisUrl,
        ...environment,
        OPS_PORT: String(opsPort),
        DOMAIN_HASH_KEY: this.secrets.hashKey,
        DEPLOYMENT_ID: this.deploymentId,
      },
    });
  }
}

export interface ResolverLinks {
  readonly redis: TcpProxy;
  readonly feed: TcpProxy;
}
