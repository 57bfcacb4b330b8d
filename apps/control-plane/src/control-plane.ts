import { ChangePublisher } from '@weir/change-feed';
import type { Head } from '@weir/config-model';
import { parseHashKey } from '@weir/dns-name';
import {
  type Logger,
  openDeployment,
  OpsServer,
  registerFeedFileMetrics,
  registerTlsMetrics,
  type Service,
  stopAndThrow,
  stopInTurn,
  stopTogether,
  TlsIdentity,
} from '@weir/ops';
import { openTelemetry } from '@weir/telemetry';
import type { Server } from 'node:http';
import { catalogueJobs } from './catalogue/catalogue-jobs.js';
import { checkDefinition } from './catalogue/check-definition.js';
import { createUpdater } from './catalogue/create-updater.js';
import type { ControlPlaneConfiguration } from './configuration.js';
import { createFeed } from './feed/create-feed.js';
import { DatabaseFeedSource } from './feed/database-feed-source.js';
import { digestScrub } from './feed/digest-scrub.js';
import { registerCallerMetrics } from './http/callers/caller-metrics.js';
import { FailedAttempts } from './http/callers/failed-attempts.js';
import { openTokens } from './http/callers/open-tokens.js';
import { RequestMetrics } from './http/pipeline/request-metrics.js';
import { HeldBodies } from './http/pipeline/held-bodies.js';
import { InitThread } from './init/thread/init-thread.js';
import { createManagementApi } from './management-api.js';
import { createRegistry } from './operations/metrics.js';
import { Readiness } from './operations/readiness.js';
import { DatabaseMismatchError } from './platform/database/database-errors.js';
import { Database } from './platform/database/database.js';
import { SchemaCheck } from './platform/database/schema-check.js';
import { JobMetrics } from './platform/jobs/job-metrics.js';
import { JobScheduler } from './platform/jobs/job-scheduler.js';
import type { Job } from './platform/jobs/job.js';
import {
  closeServer,
  drainServer,
  listen,
  type ListenAddress,
} from './platform/server-lifecycle.js';
import { DomainHasher } from './resources/domain-lists/domain-hasher.js';
import { HashKeyCheck } from './resources/domain-lists/hash-key-check.js';
import { changeLogPruning } from './revisions/change-log-pruning.js';
import { changeRecordPruning } from './revisions/change-record-pruning.js';
import { ConfigurationReader } from './revisions/configuration-reader.js';
import { ConfigurationWriter } from './revisions/configuration-writer.js';
import { MeasuredPropagation } from './revisions/propagation-metrics.js';

/** A running control plane. */
export interface ControlPlane extends Service {
  readonly managementPort: number;
  readonly feedPort: number;
  readonly opsPort: number;
}

type Stop = () => Promise<void> | void;

/** The steps of a stop: drain, then stop what accepts work, then stop the connections that the work needs. */
interface Stops {
  readonly drains: (() => void)[];
  readonly work: Stop[];
  readonly connections: Stop[];
}

/** How soon a changed certificate is used. */
const TLS_CHECK_MS = 2_000;
/** At a stop, changes wait no longer than this for the resolvers. */
const PROPAGATION_DEADLINE_MS = 5_000;

/**
 * Starts the control plane. Health and metrics come first and report that it is starting. When a part fails to start,
 * the parts before it are stopped.
 * @throws StartError when a port is taken or the catalogue cannot be used.
 */
export async function startControlPlane(
  configuration: ControlPlaneConfiguration,
  log: Logger,
): Promise<ControlPlane> {
  const ops = await OpsServer.start({
    host: configuration.OPS_HOST,
    port: configuration.OPS_PORT,
    log,
  });
  // The ops server is closed last, so that health is reported until the end.
  const stops: Stops = { drains: [() => ops.drain()], work: [], connections: [() => ops.close()] };
  const drain = (): void => stops.drains.forEach((drainPart) => drainPart());
  const stop = async (): Promise<void> => {
    const { drains, work, connections } = stops;
    await stopInTurn([
      ...drains,
      // The time for a stop is limited.
      () => stopTogether(work.splice(0)),
      ...connections.splice(0).reverse(),
    ]);
  };
  try {
    const ports = await startParts(configuration, log, stops, ops);
    return { ...ports, opsPort: ops.port, drain, stop };
  } catch (error) {
    return stopAndThrow(error, [stop], log);
  }
}

async function startParts(
  configuration: ControlPlaneConfiguration,
  log: Logger,
  stops: Stops,
  ops: OpsServer,
): Promise<Pick<ControlPlane, 'managementPort' | 'feedPort'>> {
  const telemetry = await openTelemetry({ process: 'control-plane', configuration, log });
  const tls = TlsIdentity.open({
    names: {
      prefix: 'MANAGEMENT_TLS',
      cert: configuration.MANAGEMENT_TLS_CERT,
      key: configuration.MANAGEMENT_TLS_KEY,
      clientCa: configuration.MANAGEMENT_TLS_CLIENT_CA,
    },
    checkMs: TLS_CHECK_MS,
    log,
  });
  stops.connections.push(() => tls?.close());
  const feedTls = TlsIdentity.open({
    names: {
      prefix: 'FEED_TLS',
      cert: configuration.FEED_TLS_CERT,
      key: configuration.FEED_TLS_KEY,
    },
    checkMs: TLS_CHECK_MS,
    log,
  });
  stops.connections.push(() => feedTls?.close());
  const tokens = openTokens(configuration, log);
  stops.connections.push(() => tokens.file?.close());
  const deployment = openDeployment(configuration, log);
  stops.connections.push(() => deployment.close());
  const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
  await checkDefinition(configuration.CATALOGUE);

  const database = new Database(configuration.DATABASE_URL, log);
  stops.connections.push(() => database.close());
  const schema = new SchemaCheck(database.pool, log);
  await schema.checkAtStart(configuration.SCHEMA_WAIT_S * 1000, (reason) => ops.waitFor(reason));
  const keyCheck = new HashKeyCheck(database, hashKey);
  await keyCheck.checkAtStart();
  // It loads a compiler of queries, for which the first read would hold up all other calls. It asks PostgreSQL nothing.
  await database.prisma.$connect();
  const databaseProblem = async (): Promise<string | null> =>
    (await schema.problem()) ?? (await keyCheck.problem());
  // PostgreSQL may come later than the checks at the start.
  const admit = async (): Promise<void> => {
    const problem = await databaseProblem();
    if (problem !== null) throw new DatabaseMismatchError(problem);
  };
  const source = new DatabaseFeedSource(database);
  const readHead = (): Promise<Head> => source.head();
  const { REDIS_URL: redisUrl } = configuration;
  const missingResolverMs = configuration.MISSING_RESOLVER_S * 1000;
  const publisher = new ChangePublisher({ redisUrl, deployment, readHead, missingResolverMs, log });
  stops.connections.push(() => publisher.stop());
  stops.work.push(
    () => void setTimeout(() => publisher.endWaits(), PROPAGATION_DEADLINE_MS).unref(),
  );
  await publisher.start();

  const registry = createRegistry(database, source, publisher);
  const writer = new ConfigurationWriter(
    database,
    new MeasuredPropagation(registry, publisher),
    {
      changeMs: configuration.PROPAGATION_TIMEOUT_MS,
      replacementMs: configuration.INIT_PROPAGATION_TIMEOUT_MS,
      waitMs: configuration.CHANGE_WAIT_MS,
    },
    admit,
  );
  const initThread = new InitThread({ databaseUrl: configuration.DATABASE_URL, hashKey });
  stops.connections.push(() => initThread.stop());
  const attempts = new FailedAttempts();
  registerCallerMetrics(registry, attempts, tokens.file);
  registerFeedFileMetrics(registry, { FEED_TOKENS_FILE: deployment.tokenFileFaults });
  registerTlsMetrics(registry, {
    MANAGEMENT_TLS: () => tls?.faults ?? 0,
    FEED_TLS: () => feedTls?.faults ?? 0,
  });
  const api = await createManagementApi(
    {
      reader: new ConfigurationReader(database),
      writer,
      hasher: new DomainHasher(hashKey),
      initBodies: new HeldBodies(configuration.MANAGEMENT_BODY_LIMIT),
      initThread,
    },
    {
      log,
      metrics: new RequestMetrics(registry),
      tracer: telemetry?.tracer ?? null,
      allowedSources: configuration.MANAGEMENT_ALLOWED_SOURCES,
      trustedProxies: configuration.MANAGEMENT_TRUSTED_PROXIES,
      tokens: () => tokens.all(),
      attempts,
      callLimits: {
        perSecond: configuration.MANAGEMENT_CALLS_PER_SECOND,
        atOnce: configuration.MANAGEMENT_CALLS_AT_ONCE,
        listsAtOnce: configuration.MANAGEMENT_LISTS_AT_ONCE,
      },
      connections: configuration.MANAGEMENT_CONNECTIONS,
      bodyLimitBytes: configuration.MANAGEMENT_BODY_LIMIT,
      stallMs: configuration.MANAGEMENT_STALL_S * 1000,
      docs: configuration.MANAGEMENT_DOCS,
      tls,
    },
  );
  const serve = async (server: Server, close: Stop, place: ListenAddress): Promise<number> => {
    const port = await listen(server, place);
    stops.drains.push(() => drainServer(server));
    stops.work.push(close);
    return port;
  };
  const managementPort = await serve(api.getHttpServer(), () => api.close(), {
    host: configuration.MANAGEMENT_HOST,
    port: configuration.MANAGEMENT_PORT,
    variable: 'MANAGEMENT_PORT',
  });
  const feed = createFeed({
    ...{ configuration, deployment, tls: feedTls, source, registry, log },
    traceOf: (point) => publisher.traceOf(point),
  });
  stops.connections.push(feed.close);
  const feedPort = await serve(feed.server, () => closeServer(feed.server), {
    host: configuration.FEED_HOST,
    port: configuration.FEED_PORT,
    variable: 'FEED_PORT',
  });

  // After the feed, from which followers fetch the image. After all ports are open, so that a second process started
  // by mistake
  // changes nothing.
  const updater = createUpdater({
    location: configuration.CATALOGUE,
    limits: {
      timeoutMs: configuration.CATALOGUE_SOURCE_TIMEOUT_MS,
      maxBytes: configuration.CATALOGUE_SOURCE_LIMIT,
    },
    database,
    writer,
    registry,
    key: hashKey,
    admit,
    log,
  });
  stops.work.push(() => updater.stop());
  await updater.start();

  const jobs: readonly Job[] = [
    changeLogPruning(database.pool, log),
    changeRecordPruning(database.pool, configuration.AUDIT_DAYS, log),
    digestScrub({ snapshots: database.snapshots, registry, log }),
    ...catalogueJobs(updater, configuration.CATALOGUE_INTERVAL_MS),
  ];
  const metrics = new JobMetrics(registry, jobs);
  const scheduler = new JobScheduler({
    ...{ pool: database.jobs, jobs, metrics, log },
    queue: { redisUrl, deploymentId: deployment.id },
  });
  stops.work.push(() => scheduler.stop());

  const readiness = new Readiness({ database, databaseProblem, publisher, log });
  ops.serve({
    notReady: () => readiness.notReady(),
    degraded: () => readiness.degraded(),
    registry,
  });
  telemetry?.exportMetrics(registry);
  // First of all connections, as the metrics are read once more.
  stops.connections.push(() => telemetry?.stop());
  return { managementPort, feedPort };
}
