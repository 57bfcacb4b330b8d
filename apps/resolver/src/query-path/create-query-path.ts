import type { HashKey } from '@weir/dns-name';
import {
  BlockErrors,
  BlockPages,
  contactUris,
  QueryDecider,
  type QueryDeciderOptions,
  TargetInspector,
  ServerInformation,
  SpecialNameTable,
  DESIGNATION_ZONES,
  DISCOVERY_ZONES,
  LOCAL_ZONES,
  READINESS_ZONES,
} from '@weir/policy/answers';
import type { SentConfiguration } from '../configuration.js';
import { designatedResolvers } from './designated-resolvers.js';
import { QueryPath, type QueryPathOptions } from './query-path.js';
import { RebindingProtection } from './rebinding-protection.js';

/** What else the path of a thread is made from. */
export type QueryPathDependencies = Pick<
  QueryPathOptions,
  | 'cache'
  | 'cookies'
  | 'counters'
  | 'dnstap'
  | 'latencies'
  | 'limits'
  | 'nowMs'
  | 'nowSeconds'
  | 'onDefect'
  | 'profileCounters'
  | 'queryLog'
  | 'source'
  | 'upstream'
> &
  Pick<QueryDeciderOptions, 'allowedClients' | 'isReady' | 'localRecords'> & {
    readonly hashKey: HashKey;
    /** Wall clock in milliseconds: schedules follow it. */
    readonly wallClockMs: () => number;
  };

export function createQueryPath(
  configuration: SentConfiguration,
  dependencies: QueryPathDependencies,
): QueryPath {
  const { source, hashKey, wallClockMs, ...others } = dependencies;
  const targetInspector = new TargetInspector({ source, isEnabled: configuration.INSPECT_CNAME });
  const serverInformation = new ServerInformation({
    identity: configuration.DNS_SERVER_ID,
    name: configuration.DNS_DESIGNATED_NAME,
    infoUrl: configuration.RESOLVER_INFO_URL,
  });
  const designated = designatedResolvers(configuration);
  return new QueryPath({
    // First what the policy says about the client and the name …
    decider: new QueryDecider({
      source,
      allowedClients: dependencies.allowedClients,
      nowMs: wallClockMs,
      discoveryNames: new SpecialNameTable(hashKey, [
        ...(configuration.BLOCK_RESOLVER_DISCOVERY ? DISCOVERY_ZONES : []),
        ...(designated.length > 0 ? DESIGNATION_ZONES : []),
      ]),
      localNames: new SpecialNameTable(hashKey, [
        ...READINESS_ZONES,
        ...(configuration.LOCAL_ZONES ? LOCAL_ZONES : []),
      ]),
      localRecords: dependencies.localRecords,
      targetInspector,
      rewriteTtlSeconds: configuration.BLOCK_TTL,
      serverInformation,
      isReady: dependencies.isReady,
    }),
    // … then, for a blocked name, the block page and the reason …
    pages: new BlockPages(
      [...configuration.BLOCK_PAGE_IPV4, ...configuration.BLOCK_PAGE_IPV6],
      configuration.BLOCK_PAGE_ADDRESSES,
    ),
    ordersPageId: configuration.ORDERS_PAGE ?? -1,
    blockErrors: new BlockErrors({
      source,
      hasText: configuration.BLOCK_EDE_TEXT,
      provider: {
        name: configuration.BLOCK_PAGE_BRAND_NAME,
        contacts: contactUris(
          configuration.BLOCK_PAGE_BRAND_SUPPORT,
          configuration.BLOCK_PAGE_BRAND_PHONE,
        ),
      },
    }),
    structuredErrorsOption: configuration.STRUCTURED_ERRORS_OPTION ?? 0,
    blockTtlSeconds: configuration.BLOCK_TTL,
    designatedResolvers: designated,
    serverInformation,
    // … and for a permitted name, the cache and the upstreams. The targets of either answer are inspected, and its
    // addresses.
    targetInspector,
    rebindingProtection: new RebindingProtection({
      isEnabled: configuration.BLOCK_REBINDING,
      allowedZones: configuration.REBINDING_ALLOWED_ZONES,
      hashKey,
    }),
    hasNxDomainCut: configuration.CACHE_NXDOMAIN_CUT,
    maxTtlSeconds: configuration.CACHE_MAX_TTL ?? Infinity,
    source,
    hashKey,
    ...others,
  });
}
