import { ClientConnections, RateTable, SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { CidrSet, explainListenError, type Logger, OpsServer, type Service } from '@weir/ops';
import { followPolicy } from '@weir/policy-feed';
import { openTelemetry } from '@weir/telemetry';
import { randomInt } from 'node:crypto';
import { readBrand } from './brand/brand.js';
import type { BlockPageConfiguration } from './configuration.js';
import { CustomPages } from './content/custom-pages.js';
import { PageCounters } from './metrics/page-counters.js';
import { createRegistry } from './metrics/registry.js';
import { BuiltInPage } from './page/built-in-page.js';
import { Pages } from './page/pages.js';
import { Preview } from './preview/preview.js';
import { HttpsRefusal } from './server/https-refusal.js';
import { PageHandler } from './server/page-handler.js';
import { PageServer } from './server/page-server.js';
import { CnameTargets, plainUpstreams } from './verdict/cname-targets.js';
import { RequestEvaluator } from './verdict/request-evaluator.js';

const RATE_SLOTS = 65_536;
/** Concurrent name lookups of one subscriber. */
const LOOKUPS_PER_SUBSCRIBER = 8;

const monotonicMs = (): number => performance.now();
const nowSeconds = (): number => Math.floor(monotonicMs() / 1000) + 1;

export interface BlockPage extends Service {
  readonly port: number;
  /** The port that refuses HTTPS; undefined: nothing listens. */
  readonly httpsPort: number | undefined;
  readonly opsPort: number;
  /** Resolves when the first configuration is in force and at the head. */
  readonly ready: Promise<void>;
}

export interface BlockPageOptions {
  readonly configuration: BlockPageConfiguration;
  readonly log: Logger;
  /** Wall clock in milliseconds, for schedules. */
  readonly nowMs?: () => number;
}

/**
 * Starts a block page: first health and metrics, then all other listeners, so that a port in use is reported at
 * once, then the feed.
 * @throws StartError when a port is in use or the logo cannot be read.
 */
export async function startBlockPage(options: BlockPageOptions): Promise<BlockPage> {
  const { OPS_HOST: host, OPS_PORT: port } = options.configuration;
  const ops = await OpsServer.start({ host, port, log: options.log });
  try {
    return await startParts(options, ops);
  } catch (error) {
    await ops.close();
    throw error;
  }
}

async function startParts(options: BlockPageOptions, ops: OpsServer): Promise<BlockPage> {
  const { configuration, log, nowMs = Date.now } = options;
  const telemetry = await openTelemetry({ process: 'block-page', configuration, log });
  const tracer = telemetry?.tracer;
  const policy = followPolicy({ kind: 'block-page', configuration, log, tracer });
  const { target: source, follower, notReady, degraded, state: feed } = policy;
  const counters = new PageCounters();
  const custom = new CustomPages({
    folder: configuration.BLOCK_PAGE_CONTENT,
    log,
    monotonicMs,
    source,
  });
  const builtIn = new BuiltInPage(readBrand(configuration));
  const pages = new Pages({ builtIn, timeZone: configuration.SCHEDULE_TIMEZONE });
  const language = configuration.BLOCK_PAGE_LANGUAGE;
  const trustedProxies = configuration.BLOCK_PAGE_TRUSTED_PROXIES ?? CidrSet.parse([]);
  const subscriber = new SubscriberKey(source, randomInt(2 ** 32));
  const targets = openTargets(configuration, subscriber, log);
  const handler = new PageHandler({
    evaluator: new RequestEvaluator({
      source,
      hashKey: parseHashKey(configuration.DOMAIN_HASH_KEY),
      targets,
      nowMs,
    }),
    pages,
    builtIn,
    custom,
    trustedProxies,
    subscriber,
    rates: new RateTable(RATE_SLOTS),
    requestsPerSecond: configuration.BLOCK_PAGE_CLIENT_RATE,
    nowSeconds,
    language,
    counters,
  });
  const server = new PageServer({
    host: configuration.BLOCK_PAGE_HOST,
    port: configuration.BLOCK_PAGE_PORT,
    handler,
    trustedProxies,
    maxConnections: configuration.BLOCK_PAGE_CONNECTIONS,
    connections: new ClientConnections(configuration.BLOCK_PAGE_CLIENT_CONNECTIONS, subscriber),
    counters,
    onFault: (error) => {
      log.error({ err: error }, 'a request could not be handled');
    },
  });
  const refusal = new HttpsRefusal();
  const preview = new Preview({ pages, builtIn, custom, language, nowMs });
  const listening: (() => Promise<void>)[] = [];
  try {
    const port = await listen(configuration, 'BLOCK_PAGE_PORT', () => server.start());
    listening.push(() => server.stop());
    const httpsPort = await startRefusal(configuration, refusal);
    if (httpsPort !== undefined) listening.push(() => refusal.stop());
    const registry = createRegistry({ counters, custom, server, feed });
    telemetry?.exportMetrics(registry);
    ops.serve({
      notReady,
      degraded,
      registry,
      handleOther: (request, response) => preview.handle(request, response),
    });
    return {
      port,
      httpsPort,
      opsPort: ops.port,
      ready: follower.start(),
      drain: () => ops.drain(),
      stop: async () => {
        ops.drain();
        await closeAll(listening);
        await follower.stop();
        targets?.close();
        await telemetry?.stop();
        await ops.close();
      },
    };
  } catch (error) {
    await closeAll(listening);
    throw error;
  }
}

async function startRefusal(
  configuration: BlockPageConfiguration,
  refusal: HttpsRefusal,
): Promise<number | undefined> {
  const { BLOCK_PAGE_HOST: host, BLOCK_PAGE_HTTPS_PORT: port } = configuration;
  if (port === undefined) return undefined;
  return listen(configuration, 'BLOCK_PAGE_HTTPS_PORT', () => refusal.start(host, port));
}

async function listen(
  configuration: BlockPageConfiguration,
  variable: 'BLOCK_PAGE_PORT' | 'BLOCK_PAGE_HTTPS_PORT',
  start: () => Promise<number>,
): Promise<number> {
  try {
    return await start();
  } catch (error) {
    const [host, port] = [configuration.BLOCK_PAGE_HOST, configuration[variable] ?? 0];
    throw explainListenError(error, { host, port, variable });
  }
}

async function closeAll(closings: readonly (() => Promise<void>)[]): Promise<void> {
  await Promise.all(closings.map((close) => close()));
}

/** @returns null when targets are not looked up */
function openTargets(
  { INSPECT_CNAME, UPSTREAMS }: BlockPageConfiguration,
  subscriber: SubscriberKey,
  log: Logger,
): CnameTargets | null {
  if (!INSPECT_CNAME) return null;
  const upstreams = plainUpstreams(UPSTREAMS, log);
  if (upstreams?.length === 0) return null;
  return new CnameTargets(upstreams, new ClientConnections(LOOKUPS_PER_SUBSCRIBER, subscriber));
}
