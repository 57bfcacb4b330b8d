import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { ChangePublisher } from '@weir/change-feed';
import { parseHashKey } from '@weir/dns-name';
import { Registry } from 'prom-client';
import { RefreshMetrics, registerCatalogueGauges } from './catalogue/catalogue-metrics.js';
import { CatalogueUpdater } from './catalogue/catalogue-updater.js';
import { SourceRefresh } from './catalogue/sources/source-refresh.js';
import { readSamples } from './catalogue/store/definition-store.js';
import { DatabaseFeedSource } from './feed/database-feed-source.js';
import { digestScrub } from './feed/digest-check.js';
import { FeedApi } from './feed/feed-api.js';
import { DatabaseCheck } from './operations/database-check.js';
import { Readiness } from './operations/readiness.js';
import { Database } from './platform/database/database.js';
import { type Job, JobScheduler } from './platform/jobs/job-scheduler.js';
import { PROCESS, type Process } from './process.js';
import { DomainHasher } from './resources/domain-lists/domain-check.js';
import { grantExpiry } from './resources/grants/grants.js';
import { ConfigurationReader } from './revisions/configuration-reader.js';
import { ConfigurationWriter } from './revisions/configuration-writer.js';
import { MeasuredPropagation } from './revisions/propagation-metrics.js';
import { pruningJobs } from './revisions/pruning.js';

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
      DatabaseFeedSource,
      ...changeProviders(process, registry),
      FeedApi,
      {
        provide: DomainHasher,
        useFactory: () => new DomainHasher(parseHashKey(process.configuration.DOMAIN_HASH_KEY)),
      },
      ...backgroundProviders(process, registry),
    ];
    const exports = providers.map((one) => ('provide' in one ? one.provide : one));
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
      useFactory: ({ pool }: Database) =>
        new DatabaseCheck({
          ...{ pool, log, key: parseHashKey(configuration.DOMAIN_HASH_KEY) },
          waitMs: configuration.SCHEMA_WAIT_S * 1000,
          onWait: (reason) => ops.waitFor(reason),
        }),
    },
  ];
}

function changeProviders(process: Process, registry: Registry): Factories {
  const { configuration, deployment, log } = process;
  return [
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
  ];
}

function backgroundProviders(
  { configuration, definition, deployment, log }: Process,
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
        registerCatalogueGauges(registry, pool);
        return new CatalogueUpdater({
          ...{ definition, key, database, writer, log },
          sources: new SourceRefresh({ pool, key, limits, metrics, log }),
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
          ...{ pool: database.jobs, jobs, registry, log },
          queue: { redisUrl: configuration.REDIS_URL, deploymentId: deployment.id },
        });
      },
    },
  ];
}
