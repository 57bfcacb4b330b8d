import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type Provider,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ChangePublisher } from '@weir/change-feed';
import { parseHashKey } from '@weir/dns-name';
import {
  type Logger,
  type OpenDeployment,
  type OpsServer,
  registerFeedFileMetrics,
  registerTlsMetrics,
  type TlsIdentity,
} from '@weir/ops';
import type { Telemetry } from '@weir/telemetry';
import type { Server } from 'node:http';
import { Registry } from 'prom-client';
import { CatalogueActivation } from './catalogue/activate/catalogue-activation.js';
import { CatalogueGauges } from './catalogue/catalogue-gauges.js';
import { CatalogueUpdater } from './catalogue/catalogue-updater.js';
import { RefreshMetrics, SourceRefresh } from './catalogue/sources/source-refresh.js';
import type { ControlPlaneConfiguration } from './configuration.js';
import { DatabaseFeedSource } from './feed/database-feed-source.js';
import { digestScrub } from './feed/digest-scrub.js';
import { FeedApi } from './feed/feed-api.js';
import type { Tokens } from './http/callers/open-tokens.js';
import { HttpModule } from './http/http.module.js';
import { HeldBodies } from './http/pipeline/held-bodies.js';
import type { HttpOptions } from './http/pipeline/http-options.js';
import { InitModule } from './init/init.module.js';
import { InitThread } from './init/thread/init-thread.js';
import { DatabaseCheck } from './operations/database-check.js';
import { registerMetrics } from './operations/metrics.js';
import { Readiness } from './operations/readiness.js';
import { Database } from './platform/database/database.js';
import { SchemaCheck } from './platform/database/schema-check.js';
import { JobMetrics, JobScheduler } from './platform/jobs/job-scheduler.js';
import type { Job } from './platform/jobs/job.js';
import { closeServer, listen } from './platform/server-lifecycle.js';
import { DomainHasher } from './resources/domain-lists/domain-check.js';
import { ResourcesModule } from './resources/resources.module.js';
import { changeLogPruning } from './revisions/change-log-pruning.js';
import { changeRecordPruning } from './revisions/change-record-pruning.js';
import { ConfigurationReader } from './revisions/configuration-reader.js';
import { ConfigurationWriter } from './revisions/configuration-writer.js';
import { MeasuredPropagation } from './revisions/propagation-metrics.js';

/** What a process has opened before Nest starts. */
export interface Process {
  readonly configuration: ControlPlaneConfiguration;
  readonly log: Logger;
  readonly ops: OpsServer;
  /** Of the management API. Null: http. */
  readonly tls: TlsIdentity | null;
  readonly feedTls: TlsIdentity | null;
  readonly tokens: Tokens;
  readonly deployment: OpenDeployment;
  readonly telemetry: Telemetry | null;
}

const PROCESS = Symbol('Process');

/**
 * What the resources, the feed and the background jobs share. Nest starts a provider after those that it is given, and
 * closes it before them.
 */
@Global()
@Module({})
class CoreModule {
  static with(process: Process, registry: Registry): DynamicModule {
    const providers = [
      { provide: PROCESS, useValue: process },
      { provide: Registry, useValue: registry },
      ...databaseProviders(process),
      ...changeProviders(process, registry),
      ...initProviders(process),
      ...backgroundProviders(process, registry),
    ];
    const exports = providers.map(({ provide }) => provide);
    return { module: CoreModule, providers, exports };
  }
}

type Factories = Exclude<Provider, new (...args: never) => unknown>[];

function databaseProviders({ configuration, log, ops }: Process): Factories {
  return [
    { provide: Database, useFactory: () => new Database(configuration.DATABASE_URL, log) },
    {
      provide: DatabaseCheck,
      inject: [Database],
      useFactory: (database: Database) =>
        new DatabaseCheck(
          database,
          new SchemaCheck(database.pool, log),
          parseHashKey(configuration.DOMAIN_HASH_KEY),
          {
            waitMs: configuration.SCHEMA_WAIT_S * 1000,
            onWait: (reason) => ops.waitFor(reason),
          },
        ),
    },
  ];
}

function changeProviders(process: Process, registry: Registry): Factories {
  const { configuration, deployment, feedTls: tls, log } = process;
  return [
    {
      provide: DatabaseFeedSource,
      inject: [Database],
      useFactory: (database: Database) => new DatabaseFeedSource(database),
    },
    {
      provide: MeasuredPropagation,
      // The publisher reads the head, so it starts after the check.
      inject: [DatabaseFeedSource, DatabaseCheck],
      useFactory: (source: DatabaseFeedSource) => {
        const publisher = new ChangePublisher({
          redisUrl: configuration.REDIS_URL,
          deployment,
          readHead: () => source.head(),
          missingResolverMs: configuration.MISSING_RESOLVER_S * 1000,
          log,
        });
        return new MeasuredPropagation(registry, publisher);
      },
    },
    {
      provide: Readiness,
      inject: [Database, DatabaseCheck, MeasuredPropagation],
      useFactory: (database: Database, check: DatabaseCheck, { publisher }: MeasuredPropagation) =>
        new Readiness({ database, databaseProblem: () => check.problem(), publisher, log }),
    },
    {
      provide: ConfigurationReader,
      inject: [Database],
      useFactory: (database: Database) => new ConfigurationReader(database),
    },
    {
      provide: ConfigurationWriter,
      inject: [Database, MeasuredPropagation, DatabaseCheck],
      useFactory: (database: Database, propagation: MeasuredPropagation, check: DatabaseCheck) =>
        new ConfigurationWriter(
          database,
          propagation,
          {
            changeMs: configuration.PROPAGATION_TIMEOUT_MS,
            replacementMs: configuration.INIT_PROPAGATION_TIMEOUT_MS,
            waitMs: configuration.CHANGE_WAIT_MS,
          },
          () => check.admit(),
        ),
    },
    {
      provide: FeedApi,
      inject: [DatabaseFeedSource, MeasuredPropagation],
      useFactory: (source: DatabaseFeedSource, { publisher }: MeasuredPropagation) =>
        new FeedApi({
          ...{ configuration, deployment, tls, source, registry, log },
          traceOf: (point) => publisher.traceOf(point),
        }),
    },
  ];
}

function initProviders({ configuration }: Process): Factories {
  const { DATABASE_URL: databaseUrl, MANAGEMENT_BODY_LIMIT: limitBytes } = configuration;
  const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
  return [
    { provide: DomainHasher, useFactory: () => new DomainHasher(hashKey) },
    { provide: HeldBodies, useFactory: () => new HeldBodies(limitBytes) },
    { provide: InitThread, useFactory: () => new InitThread({ databaseUrl, hashKey }) },
  ];
}

function backgroundProviders(
  { configuration, deployment, log }: Process,
  registry: Registry,
): Factories {
  const key = parseHashKey(configuration.DOMAIN_HASH_KEY);
  const limits = {
    timeoutMs: configuration.CATALOGUE_SOURCE_TIMEOUT_MS,
    maxBytes: configuration.CATALOGUE_SOURCE_LIMIT,
  };
  return [
    {
      provide: CatalogueUpdater,
      inject: [Database, ConfigurationWriter, DatabaseCheck],
      useFactory: (database: Database, writer: ConfigurationWriter, check: DatabaseCheck) => {
        const { pool } = database;
        const metrics = new RefreshMetrics(registry);
        new CatalogueGauges(registry, pool);
        return new CatalogueUpdater({
          location: configuration.CATALOGUE,
          ...{ key, pool, log },
          sources: new SourceRefresh({ pool, key, limits, metrics, log }),
          activation: new CatalogueActivation(database, writer, log),
          admit: () => check.admit(),
        });
      },
    },
    {
      provide: JobScheduler,
      inject: [Database, CatalogueUpdater],
      useFactory: (database: Database, updater: CatalogueUpdater) => {
        const jobs: readonly Job[] = [
          changeLogPruning(database.pool, log),
          changeRecordPruning(database.pool, configuration.AUDIT_DAYS, log),
          digestScrub({ snapshots: database.snapshots, registry, log }),
          ...updater.jobs(configuration.CATALOGUE_INTERVAL_MS),
        ];
        return new JobScheduler({
          ...{ pool: database.jobs, jobs, metrics: new JobMetrics(registry, jobs), log },
          queue: { redisUrl: configuration.REDIS_URL, deploymentId: deployment.id },
        });
      },
    },
  ];
}

/** Opens the ports when everything else is there, and then begins the work in the background. */
@Module({})
export class AppModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static with(process: Process, registry: Registry, http: HttpOptions): DynamicModule {
    const imports = [
      CoreModule.with(process, registry),
      HttpModule.with(http),
      ResourcesModule,
      InitModule,
    ];
    return { module: AppModule, imports };
  }

  constructor(
    @Inject(PROCESS) private readonly process: Process,
    private readonly registry: Registry,
    private readonly host: HttpAdapterHost,
    private readonly database: Database,
    private readonly readiness: Readiness,
    private readonly source: DatabaseFeedSource,
    private readonly propagation: MeasuredPropagation,
    private readonly feed: FeedApi,
    private readonly updater: CatalogueUpdater,
    private readonly scheduler: JobScheduler,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { configuration, ops, telemetry } = this.process;
    await listen(this.managementServer, {
      host: configuration.MANAGEMENT_HOST,
      port: configuration.MANAGEMENT_PORT,
      variable: 'MANAGEMENT_PORT',
    });
    await listen(this.feed.server, {
      host: configuration.FEED_HOST,
      port: configuration.FEED_PORT,
      variable: 'FEED_PORT',
    });
    // After the feed, from which followers fetch the image. After all ports are open, so that a second process started
    // by mistake changes nothing.
    await this.updater.start();
    this.scheduler.start();
    this.registerMetrics();
    const { registry, readiness } = this;
    ops.serve({
      notReady: () => readiness.notReady(),
      degraded: () => readiness.degraded(),
      registry,
    });
    telemetry?.exportMetrics(registry);
  }

  /** All at once, because the time for a stop is limited. The connections that the work needs are closed later. */
  async beforeApplicationShutdown(): Promise<void> {
    this.updater.stop();
    await Promise.all([
      closeServer(this.managementServer),
      closeServer(this.feed.server),
      this.scheduler.stop(),
    ]);
    // It reads the metrics once more.
    await this.process.telemetry?.stop();
  }

  private get managementServer(): Server {
    return this.host.httpAdapter.getHttpServer() as Server;
  }

  private registerMetrics(): void {
    const { tls, feedTls, deployment } = this.process;
    const { registry, database, source, propagation } = this;
    registerMetrics(registry, database, source, propagation.publisher);
    registerFeedFileMetrics(registry, { FEED_TOKENS_FILE: deployment.tokenFileFaults });
    registerTlsMetrics(registry, {
      MANAGEMENT_TLS: () => tls?.faults ?? 0,
      FEED_TLS: () => feedTls?.faults ?? 0,
    });
  }
}
