import { type DynamicModule, type FactoryProvider, Global, Module } from '@nestjs/common';
import { ChangePublisher } from '@weir/change-feed';
import { type HashKey, parseHashKey } from '@weir/dns-name';
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
import { JobScheduler } from './platform/jobs/job-scheduler.js';
import { PROCESS, type Process } from './process.js';
import { DomainHasher } from './resources/domain-lists/domain-check.js';
import { grantExpiry } from './resources/grants/grants.js';
import { ConfigurationReader } from './revisions/configuration-reader.js';
import { ConfigurationWriter } from './revisions/configuration-writer.js';
import { Propagation } from './revisions/propagation.js';
import { pruningJobs } from './revisions/pruning.js';

/**
 * What the resources, the feed and the background jobs share. Nest starts a provider after those that it is given, and
 * closes it before them.
 */
@Global()
@Module({})
export class CoreModule {
  static with(process: Process, registry: Registry): DynamicModule {
    const key = parseHashKey(process.configuration.DOMAIN_HASH_KEY);
    const providers = [
      { provide: PROCESS, useValue: process },
      { provide: Registry, useValue: registry },
      DatabaseFeedSource,
      FeedApi,
      made(DomainHasher, [], () => new DomainHasher(key)),
      ...databaseProviders(process, key),
      ...changeProviders(process, registry),
      ...backgroundProviders(process, registry, key),
    ];
    const exports = providers.map((one) => ('provide' in one ? one.provide : one));
    return { module: CoreModule, providers, exports };
  }
}

type Class<T = unknown> = abstract new (...args: never) => T;
type Instances<Classes extends readonly Class[]> = {
  -readonly [I in keyof Classes]: InstanceType<Classes[I]>;
};

/** The provider of a class, made from instances of others. */
function made<T, const Classes extends readonly Class[]>(
  provide: Class<T>,
  inject: Classes,
  useFactory: (...others: Instances<Classes>) => T,
): FactoryProvider<T> {
  return {
    provide,
    inject: [...inject],
    useFactory: useFactory as FactoryProvider<T>['useFactory'],
  };
}

function databaseProviders({ configuration, log, ops }: Process, key: HashKey): FactoryProvider[] {
  return [
    made(Database, [], () => new Database(configuration.DATABASE_URL, log)),
    made(
      DatabaseCheck,
      [Database],
      ({ pool }) =>
        new DatabaseCheck({
          ...{ pool, log, key },
          waitMs: configuration.SCHEMA_WAIT_S * 1000,
          onWait: (reason) => ops.waitFor(reason),
        }),
    ),
  ];
}

function changeProviders(process: Process, registry: Registry): FactoryProvider[] {
  const { configuration, deployment, log } = process;
  const timeouts = {
    changeMs: configuration.PROPAGATION_TIMEOUT_MS,
    replacementMs: configuration.INIT_PROPAGATION_TIMEOUT_MS,
    waitMs: configuration.CHANGE_WAIT_MS,
  };
  return [
    // The publisher reads the head, so it starts after the check.
    made(Propagation, [DatabaseFeedSource, DatabaseCheck], (source) => {
      const publisher = new ChangePublisher({
        redisUrl: configuration.REDIS_URL,
        deployment,
        readHead: () => source.head(),
        missingResolverMs: configuration.MISSING_RESOLVER_S * 1000,
        log,
      });
      return new Propagation(registry, publisher);
    }),
    made(
      Readiness,
      [Database, DatabaseCheck, Propagation],
      (database, check, { publisher }) =>
        new Readiness({
          ...{ database, publisher, log },
          databaseProblem: () => check.problem(),
          readSamples: () => readSamples(database.pool),
        }),
    ),
    made(ConfigurationReader, [Database], (database) => new ConfigurationReader(database)),
    made(
      ConfigurationWriter,
      [Database, Propagation, DatabaseCheck],
      (database, propagation, check) =>
        new ConfigurationWriter(database, propagation, timeouts, () => check.admit()),
    ),
  ];
}

function backgroundProviders(
  { configuration, definition, deployment, log }: Process,
  registry: Registry,
  key: HashKey,
): FactoryProvider[] {
  const limits = {
    timeoutMs: configuration.CATALOGUE_SOURCE_TIMEOUT_MS,
    maxBytes: configuration.CATALOGUE_SOURCE_LIMIT,
    tsigKeys: configuration.CATALOGUE_TSIG_KEYS ?? [],
  };
  return [
    made(
      CatalogueUpdater,
      [Database, ConfigurationWriter, DatabaseCheck],
      (database, writer, check) => {
        const { pool } = database;
        const metrics = new RefreshMetrics(registry);
        registerCatalogueGauges(registry, pool);
        return new CatalogueUpdater({
          ...{ definition, key, database, writer, log },
          sources: new SourceRefresh({ pool, key, limits, metrics, log }),
          admit: () => check.admit(),
        });
      },
    ),
    made(
      JobScheduler,
      [Database, CatalogueUpdater, ConfigurationWriter],
      ({ pool, jobs, snapshots }, updater, writer) =>
        new JobScheduler({
          ...{ pool: jobs, registry, log },
          jobs: [
            ...pruningJobs(pool, configuration.AUDIT_DAYS, log),
            grantExpiry(pool, writer, log),
            digestScrub(snapshots, registry, log),
            ...updater.jobs(configuration.CATALOGUE_INTERVAL_MS),
          ],
          queue: { redisUrl: configuration.REDIS_URL, deploymentId: deployment.id },
        }),
    ),
  ];
}
