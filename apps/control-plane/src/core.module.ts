import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { ChangePublisher } from '@weir/change-feed';
import { IncidentSeal } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { type Logger, type OpenDeployment, type OpsServer, type TlsIdentity } from '@weir/ops';
import type { Telemetry } from '@weir/telemetry';
import { Registry } from 'prom-client';
import { CatalogueActivation } from './catalogue/activate/catalogue-activation.js';
import { CatalogueGauges } from './catalogue/catalogue-gauges.js';
import { CatalogueUpdater } from './catalogue/catalogue-updater.js';
import { RefreshMetrics, SourceRefresh } from './catalogue/sources/source-refresh.js';
import type { ControlPlaneConfiguration } from './configuration.js';
import { ActiveImage } from './explain/active-image.js';
import { ExplainService } from './explain/explain.service.js';
import { ModelResolver } from './explain/model-resolver.js';
import { DatabaseFeedSource } from './feed/database-feed-source.js';
import { digestScrub } from './feed/digest-scrub.js';
import { FeedApi } from './feed/feed-api.js';
import type { Tokens } from './http/callers/open-tokens.js';
import { DryRunBodies, HeldBodies } from './http/pipeline/held-bodies.js';
import { DryRunThread, InitThread } from './init/thread/init-thread.js';
import { DatabaseCheck } from './operations/database-check.js';
import { readSamples } from './catalogue/store/definition-store.js';
import { Readiness } from './operations/readiness.js';
import { Database } from './platform/database/database.js';
import { SchemaCheck } from './platform/database/schema-check.js';
import { JobMetrics, JobScheduler } from './platform/jobs/job-scheduler.js';
import type { Job } from './platform/jobs/job.js';
import { DomainHasher } from './resources/domain-lists/domain-check.js';
import { grantExpiry } from './resources/grants/grant-expiry.js';
import { TIME_ZONE } from './resources/schedules/switches.controller.js';
import { pruningJobs } from './revisions/pruning.js';
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

export const PROCESS = Symbol('Process');

/**
 * What the resources, the feed and the background jobs share. Nest starts a provider after those that it is given, and
 * closes it before them.
 */
@Global()
@Module({})
export class CoreModule {
  static with(process: Process, registry: Registry): DynamicModule {
    const providers = [
      { provide: PROCESS, useValue: process },
      { provide: Registry, useValue: registry },
      ...databaseProviders(process),
      ...changeProviders(process, registry),
      ...initProviders(process),
      explainProvider(process),
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
        new Readiness({
          ...{ database, publisher, log },
          databaseProblem: () => check.problem(),
          readSamples: () => readSamples(database.pool),
        }),
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
    { provide: TIME_ZONE, useFactory: () => configuration.SCHEDULE_TIMEZONE },
    { provide: DomainHasher, useFactory: () => new DomainHasher(hashKey) },
    { provide: HeldBodies, useFactory: () => new HeldBodies(limitBytes) },
    { provide: DryRunBodies, useFactory: () => new DryRunBodies(limitBytes) },
    { provide: InitThread, useFactory: () => new InitThread({ databaseUrl, hashKey }) },
    { provide: DryRunThread, useFactory: () => new DryRunThread({ databaseUrl, hashKey }) },
  ];
}

function explainProvider({ configuration }: Process): Factories[number] {
  const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
  const { INCIDENT_KEYS: incidentKeys, SCHEDULE_TIMEZONE: timeZone } = configuration;
  return {
    provide: ExplainService,
    inject: [Database, ConfigurationReader],
    useFactory: ({ pool }: Database, reader: ConfigurationReader) =>
      new ExplainService({
        ...{ reader, pool, hashKey },
        image: new ActiveImage(pool, hashKey),
        resolver: new ModelResolver(configuration, hashKey),
        timeZone,
        seal: incidentKeys && new IncidentSeal(incidentKeys),
      }),
  };
}

function backgroundProviders(
  { configuration, deployment, log }: Process,
  registry: Registry,
): Factories {
  const key = parseHashKey(configuration.DOMAIN_HASH_KEY);
  const limits = {
    timeoutMs: configuration.CATALOGUE_SOURCE_TIMEOUT_MS,
    maxBytes: configuration.CATALOGUE_SOURCE_LIMIT,
    tsigKeys: configuration.CATALOGUE_TSIG_KEYS ?? [],
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
          definition: {
            location: configuration.CATALOGUE,
            sets: configuration.CATALOGUE_SETS ?? [],
          },
          ...{ key, pool, log },
          sources: new SourceRefresh({ pool, key, limits, metrics, log }),
          activation: new CatalogueActivation(database, writer, log),
          admit: () => check.admit(),
        });
      },
    },
    {
      provide: JobScheduler,
      inject: [Database, CatalogueUpdater, ConfigurationWriter],
      useFactory: (database: Database, updater: CatalogueUpdater, writer: ConfigurationWriter) => {
        const jobs: readonly Job[] = [
          ...pruningJobs(database.pool, configuration.AUDIT_DAYS, log),
          grantExpiry(database.pool, writer, log),
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
