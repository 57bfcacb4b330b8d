import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:dgram';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { join } from 'node:path';
import { migrate } from '../migrate/migrate.js';
import { type PostgresServer, startPostgres } from '../services/postgres.js';
import { type RedisServer, startRedis } from '../services/redis.js';
import { BALANCER_ADDRESS } from './dns-client.js';
import { ManagementClient } from './management-client.js';
import { findFreePorts } from './ports.js';
import { Random } from './random.js';
import { RedisProxy } from './redis-proxy.js';
import { TcpProxy } from './tcp-proxy.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { startUpstream } from './upstream.js';
import { WeirProcess } from './weir-process.js';

export interface DeploymentOptions {
  /** The repository, compiled. */
  readonly root: string;
  /** An empty folder for data and logs. */
  readonly folder: string;
  readonly replicas: number;
  readonly resolvers: number;
  /** Default: none. */
  readonly blockPages?: number;
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

/** Each block page has its own address, so a blocked answer identifies the page: page n has 192.0.2.n. */
export const MAX_PAGE_ID = 254;
export const pageAddress = (page: number): string => `192.0.2.${page}`;
/** Address of the default page. No profile of the suite uses it. */
const DEFAULT_PAGE_ADDRESS = '192.0.2.255';

/** So long a resolver that was lost without a goodbye counts in "m" of `X-Config-Applied` (decisions §10). */
export const MISSING_RESOLVER_MS = 20_000;

/** The definition of the catalogue: another one, and so another image, for each generation. */
const catalogue = (generation: number): string => `categories:
  - id: 12
    name: Gambling
    domains: [casino.example.com, casino-${generation}.example.com]
applications:
  - id: 3
    name: Video
    domains: [video.example.com]
`;

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
  databaseUrl = '';
  /**
   * Load balancer in front of the feed API: each connection goes to the next ready replica.
   */
  readonly feedProxy: TcpProxy;
  /** Between each replica and PostgreSQL. */
  readonly postgresProxies: readonly TcpProxy[];
  /** Between each resolver and all that it hears of the control plane: Redis and the feed. */
  readonly resolverLinks: readonly ResolverLinks[];
  private postgres: PostgresServer | null = null;
  private redis: RedisServer | null = null;
  private redisPort: number;
  private standbyPort: number;
  private catalogueGeneration = 0;
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
    private readonly ports: Ports,
  ) {
    this.redisPort = ports.redis;
    this.standbyPort = ports.standbyRedis;
    this.dnsPorts = ports.dns;
    this.managementPorts = ports.management;
    this.pagePorts = ports.page;
    this.redisProxy = new RedisProxy(() => this.redisPort, options.random);
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
    const { replicas, resolvers, blockPages = 0 } = options;
    // Independent of the seed: other ports are free each time.
    const random = new Random(randomBytes(4).readUInt32BE());
    const free = await findFreePorts(6 + 4 * replicas + 4 * resolvers + 2 * blockPages, random);
    const take = (count: number): number[] => free.splice(0, count);
    const one = (): number => take(1)[0] ?? 0;
    return new Deployment(options, {
      postgres: one(),
      redis: one(),
      standbyRedis: one(),
      redisProxy: one(),
      feedProxy: one(),
      postgresProxies: take(replicas),
      upstream: one(),
      management: take(replicas),
      feed: take(replicas),
      replicaOps: take(replicas),
      dns: take(resolvers),
      resolverOps: take(resolvers),
      resolverRedis: take(resolvers),
      resolverFeed: take(resolvers),
      page: take(blockPages),
      pageOps: take(blockPages),
    });
  }

  /** Starts everything; each part is ready when this resolves. */
  async start(): Promise<void> {
    mkdirSync(this.catalogueFolder, { recursive: true });
    this.renewCatalogue();
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
    await Promise.all([this.startPostgres(), this.startRedis()]);
    await migrate({
      databaseUrl: this.databaseUrl,
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
    await Promise.all([this.stopPostgres('SIGINT'), this.killRedis()]);
    this.upstream?.close();
  }

  async startPostgres(): Promise<void> {
    this.postgres = await startPostgres({
      dataDir: this.postgresFolder,
      logFile: this.logFile('postgres'),
      port: this.ports.postgres,
      settings: (this.options.fsync ?? true) ? [] : ['fsync=off'],
    });
    this.databaseUrl = this.postgres.url;
  }

  /** SIGINT is a fast shutdown, SIGQUIT has the effect of a crash. */
  async stopPostgres(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    await this.postgres?.child.stop(signal, 30_000);
    this.postgres = null;
  }

  /** SIGKILL for all its processes at once. */
  async killPostgres(): Promise<void> {
    if (this.postgres === null) return;
    process.kill(-this.postgres.child.pid, 'SIGKILL');
    await this.stopPostgres('SIGQUIT');
  }

  /** Stops PostgreSQL for a moment, and keeps a copy of its data. */
  async copyPostgres(): Promise<void> {
    await this.stopPostgres('SIGINT');
    rmSync(this.postgresCopy, { recursive: true, force: true });
    execFileSync('cp', ['--archive', this.postgresFolder, this.postgresCopy]);
    await this.startPostgres();
  }

  /** Goes on with the copy: what was committed since is lost. So does a failover to a replica that lags behind. */
  async revertPostgres(): Promise<void> {
    await this.stopPostgres('SIGQUIT');
    rmSync(this.postgresFolder, { recursive: true });
    renameSync(this.postgresCopy, this.postgresFolder);
    await this.startPostgres();
  }

  async startRedis(): Promise<void> {
    this.redis = await this.startRedisAt(this.redisPort);
  }

  /** Kills Redis, and makes a replica of it the new one. */
  async failOverRedis(): Promise<void> {
    const [before, standby] = [this.redisPort, this.standbyPort];
    const replica = await this.startRedisAt(standby, before);
    const client = new Redis(replica.url);
    try {
      while (!(await client.info('replication')).includes('master_link_status:up')) await sleep(20);
      await this.killRedis();
      await client.replicaof('NO', 'ONE');
    } finally {
      client.disconnect();
    }
    [this.redisPort, this.standbyPort] = [standby, before];
    this.redis = replica;
    this.redisProxy.cut(1);
  }

  private startRedisAt(port: number, replicaOf?: number): Promise<RedisServer> {
    return startRedis({
      dataDir: join(this.options.folder, `redis-${port}`),
      logFile: this.logFile('redis'),
      port,
      password: this.secrets.redisPassword,
      ...(replicaOf !== undefined && { replicaOf }),
    });
  }

  /** Another catalogue: within seconds a control plane compiles and activates its image. */
  renewCatalogue(): void {
    const file = join(this.catalogueFolder, 'catalogue.yaml');
    writeFileSync(`${file}.new`, catalogue(this.catalogueGeneration++));
    renameSync(`${file}.new`, file);
  }

  private get catalogueFolder(): string {
    return join(this.options.folder, 'catalogue');
  }

  private get postgresFolder(): string {
    return join(this.options.folder, 'postgres');
  }

  private get postgresCopy(): string {
    return join(this.options.folder, 'postgres-copy');
  }

  /** Kills Redis. It keeps no data. */
  async killRedis(): Promise<void> {
    await this.redis?.child.stop('SIGKILL');
    this.redis = null;
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
    const port = this.options.withoutProxies === true ? this.redisPort : this.ports.redisProxy;
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
        CATALOGUE: this.catalogueFolder,
        CATALOGUE_INTERVAL_MS: '1000',
        MISSING_RESOLVER_S: String(MISSING_RESOLVER_MS / 1000),
        ...this.options.replicaVariables?.(i),
      },
    );
  }

  private resolver(i: number): WeirProcess {
    const { ports } = this;
    const pages = Array.from({ length: MAX_PAGE_ID }, (_, page) => [
      page + 1,
      [pageAddress(page + 1)],
    ]);
    return this.process(`resolver-${i}`, 'apps/resolver/dist/main.js', ports.resolverOps[i], {
      DNS_PORT: String(ports.dns[i]),
      DNS_PROXY_PROTOCOL_FROM: BALANCER_ADDRESS,
      DNS_ALLOWED_CLIENTS: '127.0.0.0/8,2001:db8::/32',
      UPSTREAMS: `127.0.0.1:${ports.upstream}`,
      BLOCK_PAGE_IPV4: DEFAULT_PAGE_ADDRESS,
      BLOCK_PAGE_ADDRESSES: JSON.stringify(Object.fromEntries(pages)),
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
        ...this.options.variables,
        REDIS_URL: this.redisUrl,
        ...environment,
        OPS_PORT: String(opsPort),
        FEED_TOKEN: this.secrets.feedToken,
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

interface Ports {
  readonly postgres: number;
  readonly redis: number;
  readonly standbyRedis: number;
  readonly redisProxy: number;
  readonly feedProxy: number;
  readonly postgresProxies: readonly number[];
  readonly upstream: number;
  readonly management: readonly number[];
  readonly feed: readonly number[];
  readonly replicaOps: readonly number[];
  readonly dns: readonly number[];
  readonly resolverOps: readonly number[];
  readonly resolverRedis: readonly number[];
  readonly resolverFeed: readonly number[];
  readonly page: readonly number[];
  readonly pageOps: readonly number[];
}
