import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:dgram';
import { join } from 'node:path';
import { migrate } from '../migrate/migrate.js';
import { ROOT } from '../services/files.js';
import { findFreePorts } from '../services/ports.js';
import { withRuntimeRole } from '../services/postgres.js';
import { WeirProcess, type WeirProcessOptions } from '../services/weir-process.js';
import { BALANCER_ADDRESS } from './dns-client.js';
import { startUpstream } from './dns-message.js';
import { ManagementClient } from './management-client.js';
import { Random } from './random.js';
import { CatalogueFolder, DeploymentPostgres, DeploymentRedis } from './stores.js';
import { RedisProxy, TcpProxy } from './proxies.js';

/** Each block page has its own address, so a blocked answer identifies the page: page n has 192.0.2.n. */
export const pageAddress = (page: number): string => `192.0.2.${page}`;

export const MAX_PAGE_ID = 254;

/** Address of the default page. Orders are answered with it; no profile of the suite uses it. */
export const DEFAULT_PAGE_ADDRESS = '192.0.2.255';

const PAGES = Array.from({ length: MAX_PAGE_ID }, (_, i) => [i + 1, [pageAddress(i + 1)]]);
const BLOCK_PAGE_ADDRESSES = JSON.stringify(Object.fromEntries(PAGES));

type Variables = Readonly<Record<string, string>>;

export interface DeploymentOptions {
  readonly replicas: number;
  readonly resolvers: number;
  /** Default: none. */
  readonly blockPages?: number;
  /** An empty folder for data and logs. */
  readonly folder: string;
  /** Variables for every process, in addition to its own. */
  readonly variables?: Variables;
  /** Variables for one replica, in place of its own. */
  readonly replicaVariables?: (replica: number) => Variables;
  /** Variables for the resolvers, in place of their own. */
  readonly resolverVariables?: (resolver: number) => Variables;
  /** For the faults of the Redis proxy. Default: always the same ones. */
  readonly random?: Random;
  /** Default: an error that nobody catches. */
  readonly onUnexpectedExit?: (explanation: string) => void;
  /** For measurements: no proxies. */
  readonly withoutProxies?: boolean;
  /** Whether PostgreSQL syncs to disk, as in production; default: yes. Killed processes lose nothing without it. */
  readonly fsync?: boolean;
}

/** So long a resolver that was lost without a goodbye counts in "m" of `X-Config-Applied` (decisions §10). */
export const MISSING_RESOLVER_MS = 20_000;

/**
 * A deployment of real processes on loopback, with proxies between them that can inject faults. Disposing of it stops
 * it.
 */
export class Deployment implements AsyncDisposable {
  readonly replicas: readonly WeirProcess[];
  readonly resolvers: readonly WeirProcess[];
  readonly blockPages: readonly WeirProcess[];
  readonly dnsPorts: readonly number[];
  readonly managementPorts: readonly number[];
  readonly pagePorts: readonly number[];
  private readonly feedPorts: readonly number[];
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
  /** Between each resolver and what it follows: Redis and the feed. */
  readonly resolverLinks: readonly { readonly redis: TcpProxy; readonly feed: TcpProxy }[];
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
    ports: number[],
  ) {
    const { folder, replicas, resolvers, blockPages = 0, random = new Random(1) } = options;
    const of = <T>(count: number, make: (i: number) => T): T[] =>
      Array.from({ length: count }, (_, i) => make(i));
    const take = (): number => ports.pop() ?? NaN;
    this.postgres = new DeploymentPostgres(folder, take(), options.fsync ?? true);
    this.redis = new DeploymentRedis(folder, take(), take(), this.secrets.redisPassword);
    this.catalogue = new CatalogueFolder(join(folder, 'catalogue'));
    this.dnsPorts = of(resolvers, take);
    this.managementPorts = of(replicas, take);
    this.feedPorts = of(replicas, take);
    this.pagePorts = of(blockPages, take);
    this.clients = this.managementPorts.map(
      (port) => new ManagementClient(port, this.secrets.token),
    );
    this.redisProxy = new RedisProxy(() => this.redis.port, random);
    let next = 0;
    this.feedProxy = new TcpProxy(() => {
      const ready = this.feedPorts.filter((_, i) => this.replicas[i].up);
      return ready[next++ % ready.length];
    });
    const { postgres, redisProxy, feedProxy } = this;
    this.postgresProxies = of(replicas, () => new TcpProxy(() => postgres.port));
    this.resolverLinks = of(resolvers, () => ({
      redis: new TcpProxy(() => redisProxy.port),
      feed: new TcpProxy(() => feedProxy.port),
    }));
    this.replicas = of(replicas, (i) => this.replica(i, take()));
    this.resolvers = of(resolvers, (i) => this.resolver(i, take()));
    this.blockPages = of(blockPages, (i) => this.blockPage(i, take()));
  }

  static async create(options: DeploymentOptions): Promise<Deployment> {
    const { replicas, resolvers, blockPages = 0 } = options;
    const count = 3 + 3 * replicas + 2 * resolvers + 2 * blockPages;
    return new Deployment(options, await findFreePorts(count));
  }

  /** Starts everything; each part is ready when this resolves. */
  async start(): Promise<void> {
    this.catalogue.renew();
    this.upstream = await startUpstream();
    await Promise.all(this.proxies.map((proxy) => proxy.listen()));
    await Promise.all([this.postgres.start(), this.redis.start()]);
    this.databaseUrl = withRuntimeRole(this.postgres.url);
    await migrate({ databaseUrl: this.databaseUrl, ownerUrl: this.postgres.url });
    await Promise.all(this.processes.map((one) => one.start()));
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client[Symbol.dispose]();
    await Promise.all(this.processes.map((one) => one.kill()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await Promise.all([this.postgres.stop('SIGINT'), this.redis.kill()]);
    this.upstream?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
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

  private get proxies(): readonly TcpProxy[] {
    const links = this.resolverLinks.flatMap(({ redis, feed }) => [redis, feed]);
    return [this.redisProxy, this.feedProxy, ...this.postgresProxies, ...links];
  }

  /** The URL that the processes of Weir use. */
  get redisUrl(): string {
    return this.redisUrlBy(this.redisProxy);
  }

  get feedUrl(): string {
    return `http://127.0.0.1:${this.feedProxy.port}`;
  }

  private redisUrlBy(proxy: TcpProxy): string {
    const port = this.options.withoutProxies ? this.redis.port : proxy.port;
    return `redis://:${this.secrets.redisPassword}@127.0.0.1:${port}`;
  }

  private databaseUrlBy(proxy: TcpProxy): string {
    const url = new URL(this.databaseUrl);
    if (!this.options.withoutProxies) url.port = String(proxy.port);
    return url.href;
  }

  private get upstreamVariables(): Variables {
    return { UPSTREAMS: `127.0.0.1:${this.upstream?.address().port}` };
  }

  private replica(i: number, opsPort: number): WeirProcess {
    return this.process('control-plane', i, opsPort, () => ({
      DATABASE_URL: this.databaseUrlBy(this.postgresProxies[i]),
      MANAGEMENT_PORT: String(this.managementPorts[i]),
      MANAGEMENT_TOKENS: this.secrets.token,
      FEED_PORT: String(this.feedPorts[i]),
      CATALOGUE: this.catalogue.path,
      MISSING_RESOLVER_S: String(MISSING_RESOLVER_MS / 1000),
      ...this.options.replicaVariables?.(i),
    }));
  }

  private resolver(i: number, opsPort: number): WeirProcess {
    // A resolver reaches Redis and the feed through proxies of its own.
    const { redis, feed } = this.resolverLinks[i];
    return this.process('resolver', i, opsPort, () => ({
      DNS_PORT: String(this.dnsPorts[i]),
      DNS_PROXY_PROTOCOL_FROM: BALANCER_ADDRESS,
      DNS_ALLOWED_CLIENTS: '127.0.0.0/8,2001:db8::/32',
      ...this.upstreamVariables,
      BLOCK_PAGE_IPV4: DEFAULT_PAGE_ADDRESS,
      BLOCK_PAGE_ADDRESSES,
      REDIS_URL: this.redisUrlBy(redis),
      FEED_URL: this.options.withoutProxies ? this.feedUrl : `http://127.0.0.1:${feed.port}`,
      DATA_DIR: this.dataFolder(i),
      ...this.options.resolverVariables?.(i),
    }));
  }

  private blockPage(i: number, opsPort: number): WeirProcess {
    return this.process('block-page', i, opsPort, () => ({
      BLOCK_PAGE_PORT: String(this.pagePorts[i]),
      BLOCK_PAGE_CLIENT_RATE: '0',
      ...this.upstreamVariables,
      FEED_URL: this.feedUrl,
    }));
  }

  private process(
    app: WeirProcessOptions['app'],
    i: number,
    opsPort: number,
    environment: () => Variables,
  ): WeirProcess {
    const name = `${app}-${i}`;
    return new WeirProcess({
      ...{ name, app, opsPort, root: ROOT },
      logFile: this.logFile(name),
      onUnexpectedExit: this.options.onUnexpectedExit,
      environment: () => ({
        FEED_TOKENS: this.secrets.feedToken,
        ...this.options.variables,
        REDIS_URL: this.redisUrl,
        ...environment(),
        DOMAIN_HASH_KEY: this.secrets.hashKey,
        DEPLOYMENT_ID: this.deploymentId,
      }),
    });
  }
}
