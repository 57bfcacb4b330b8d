import { ConnectionPool, IncidentSeal, RateTable, SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { parseCidrs, type Logger } from '@weir/ops';
import type { Policy, PolicySource } from '@weir/policy';
import { randomInt } from 'node:crypto';
import { readBrand } from './brand/brand.js';
import type { BlockPageConfiguration } from './configuration.js';
import { CustomPages } from './content/custom-pages.js';
import { type PageCounters, Refusal } from './metrics/page-counters.js';
import { Pages } from './page/pages.js';
import { PageHandler } from './server/page-handler.js';
import { PageServer } from './server/page-server.js';
import { CnameTargets, plainUpstreams } from './verdict/cname-targets.js';
import { RequestEvaluator } from './verdict/request-evaluator.js';

const RATE_SLOTS = 65_536;

const monotonicMs = (): number => performance.now();
const nowSeconds = (): number => Math.floor(monotonicMs() / 1000) + 1;

/** What can be shown. */
export interface PageContent {
  readonly pages: Pages;
  readonly custom: CustomPages;
}

/** @throws StartError when the logo cannot be read. */
export function openContent(
  configuration: BlockPageConfiguration,
  source: PolicySource<Policy>,
  log: Logger,
): PageContent {
  return {
    pages: new Pages(readBrand(configuration), configuration.SCHEDULE_TIMEZONE),
    custom: new CustomPages({
      folder: configuration.BLOCK_PAGE_CONTENT,
      log,
      monotonicMs,
      source,
    }),
  };
}

export interface PageServerParts {
  readonly source: PolicySource<Policy>;
  readonly content: PageContent;
  readonly counters: PageCounters;
  /** Wall clock in milliseconds, for schedules. */
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Wires everything that answers visitors. The caller closes the targets, if any, after the server. */
export function createPageServer(
  configuration: BlockPageConfiguration,
  { source, content, counters, nowMs, log }: PageServerParts,
): { readonly server: PageServer; readonly targets: CnameTargets | null } {
  const trustedProxies = configuration.BLOCK_PAGE_TRUSTED_PROXIES ?? parseCidrs([]);
  const subscriber = new SubscriberKey(source, randomInt(2 ** 32));
  const targets = openTargets(configuration, subscriber, log);
  const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
  const { INCIDENT_KEYS: keys } = configuration;
  const seal = keys && new IncidentSeal(keys);
  const handler = new PageHandler({
    ...content,
    evaluator: new RequestEvaluator({
      ...{ source, hashKey, targets, seal, nowMs },
      isInspected: configuration.INSPECT_CNAME,
      ordersPageId: configuration.ORDERS_PAGE ?? -1,
    }),
    trustedProxies,
    subscriber,
    rates: new RateTable(RATE_SLOTS),
    requestsPerSecond: configuration.BLOCK_PAGE_CLIENT_RATE,
    nowSeconds,
    language: configuration.BLOCK_PAGE_LANGUAGE,
    counters,
  });
  const server = new PageServer({
    host: configuration.BLOCK_PAGE_HOST,
    port: configuration.BLOCK_PAGE_PORT,
    handler,
    trustedProxies,
    connections: new ConnectionPool({
      maxConnections: configuration.BLOCK_PAGE_CONNECTIONS,
      maxPerSubscriber: configuration.BLOCK_PAGE_CLIENT_CONNECTIONS,
      subscriber,
      isAllowed: () => false,
      onEvicted: () => {
        counters.refuse(Refusal.crowded);
      },
    }),
    counters,
    onFault: (error) => {
      log.error({ err: error }, 'a request could not be handled');
    },
  });
  return { server, targets };
}

/** @returns null when there is nobody to ask */
function openTargets(
  { UPSTREAMS }: BlockPageConfiguration,
  subscriber: SubscriberKey,
  log: Logger,
): CnameTargets | null {
  const upstreams = plainUpstreams(UPSTREAMS, log);
  if (upstreams?.length === 0) return null;
  return new CnameTargets(upstreams, subscriber);
}
