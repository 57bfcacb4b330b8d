import { ConnectionPool, IncidentSeal, RateTable, SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { parseCidrs, type Logger } from '@weir/ops';
import type { Policy, PolicySource } from '@weir/policy';
import { randomInt } from 'node:crypto';
import { readBrand } from './brand/brand.js';
import type { BlockPageConfiguration } from './configuration.js';
import { CustomPages } from './content/custom-pages.js';
import type { PageCounters } from './metrics/page-counters.js';
import { Pages } from './page/pages.js';
import { PageHandler } from './server/page-handler.js';
import { PageServer } from './server/page-server.js';
import { CnameTargets, plainUpstreams } from './verdict/cname-targets.js';
import { RequestEvaluator } from './verdict/request-evaluator.js';

const RATE_SLOTS = 65_536;

interface Surroundings {
  readonly source: PolicySource<Policy>;
  readonly counters: PageCounters;
  /** Wall clock in milliseconds, for schedules. */
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** What answers visitors. The caller closes `targets` after the server. */
interface CreatedPageServer {
  readonly server: PageServer;
  readonly pages: Pages;
  readonly custom: CustomPages;
  /** Null: there is nobody to ask. */
  readonly targets: CnameTargets | null;
}

/** @throws StartError when the logo cannot be read. */
export function createPageServer(
  configuration: BlockPageConfiguration,
  { source, counters, nowMs, log }: Surroundings,
): CreatedPageServer {
  const pages = new Pages(readBrand(configuration), configuration.SCHEDULE_TIMEZONE);
  const custom = new CustomPages({ folder: configuration.BLOCK_PAGE_CONTENT, log, source });
  const trustedProxies = configuration.BLOCK_PAGE_TRUSTED_PROXIES ?? parseCidrs([]);
  const subscriber = new SubscriberKey(source, randomInt(2 ** 32));
  const targets = openTargets(configuration, subscriber, log);
  const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
  const { INCIDENT_KEYS: keys } = configuration;
  const seal = keys && new IncidentSeal(keys);
  const handler = new PageHandler({
    pages,
    custom,
    evaluator: new RequestEvaluator({
      ...{ source, hashKey, targets, seal, nowMs },
      isInspected: configuration.INSPECT_CNAME,
      ordersPageId: configuration.ORDERS_PAGE ?? -1,
    }),
    trustedProxies,
    subscriber,
    rates: new RateTable(RATE_SLOTS),
    requestsPerSecond: configuration.BLOCK_PAGE_CLIENT_RATE,
    language: configuration.BLOCK_PAGE_LANGUAGE,
    counters,
  });
  const server = new PageServer({
    handler,
    trustedProxies,
    connections: new ConnectionPool({
      maxConnections: configuration.BLOCK_PAGE_CONNECTIONS,
      maxPerSubscriber: configuration.BLOCK_PAGE_CLIENT_CONNECTIONS,
      subscriber,
      isAllowed: () => false,
      onEvicted: () => counters.refuse('crowded'),
    }),
    counters,
    log,
  });
  return { server, pages, custom, targets };
}

function openTargets(
  { UPSTREAMS }: BlockPageConfiguration,
  subscriber: SubscriberKey,
  log: Logger,
): CnameTargets | null {
  const upstreams = plainUpstreams(UPSTREAMS, log);
  if (upstreams?.length === 0) return null;
  return new CnameTargets(upstreams, subscriber);
}
