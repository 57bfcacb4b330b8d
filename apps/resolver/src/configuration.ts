import {
  choice,
  type Configuration,
  LOG_LEVELS,
  OPS_CALL_VARIABLES,
  OPS_VARIABLES,
} from '@weir/ops';
import { ANSWER_VARIABLES, BRAND_VARIABLES, FEED_VARIABLES } from '@weir/policy-feed/state';
import { TELEMETRY_VARIABLES } from '@weir/telemetry';
import { CACHE_VARIABLES, UPSTREAM_VARIABLES } from './configuration/upstream-variables.js';
import { FILTER_VARIABLES, LOCAL_ANSWER_VARIABLES } from './configuration/filter-variables.js';
import { CLIENT_VARIABLES, LIMIT_VARIABLES } from './configuration/limit-variables.js';
import { LISTENER_VARIABLES } from './configuration/listener-variables.js';
import { OBSERVABILITY_VARIABLES } from './configuration/observability-variables.js';

/** The variables for answering queries. */
const DNS_SCHEMA = {
  ...LISTENER_VARIABLES,
  ...UPSTREAM_VARIABLES,
  ...CLIENT_VARIABLES,
  ...ANSWER_VARIABLES,
  ...BRAND_VARIABLES,
  ...FILTER_VARIABLES,
  ...CACHE_VARIABLES,
  ...LIMIT_VARIABLES,
  ...LOCAL_ANSWER_VARIABLES,
  ...OBSERVABILITY_VARIABLES,
} as const;

export const SCHEMA = {
  ...DNS_SCHEMA,
  ...FEED_VARIABLES,
  ...OPS_VARIABLES,
  ...OPS_CALL_VARIABLES,
  ...TELEMETRY_VARIABLES,
  LOG_LEVEL: choice(LOG_LEVELS, {
    description: 'Lowest severity that is logged.',
    default: 'info',
  }),
} as const;

export type ResolverConfiguration = Configuration<typeof SCHEMA>;

/** The part that answering queries needs. */
export type DnsConfiguration = Omit<Configuration<typeof DNS_SCHEMA>, 'UPSTREAMS'> &
  Pick<ResolverConfiguration, 'DOMAIN_HASH_KEY'>;

/** As another thread gets it: there a set of networks has no methods, see `CidrSet.revive`. */
export type SentConfiguration = Omit<
  DnsConfiguration,
  'DNS_ALLOWED_CLIENTS' | 'DNS_PROXY_PROTOCOL_FROM'
> & { readonly DNS_PROXY_PROTOCOL_FROM: object | undefined };
