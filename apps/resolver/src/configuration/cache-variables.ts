import { boolean, integer, optional } from '@weir/ops';

const MAX_CACHE_MB = 4096;
const MAX_MIN_TTL = 3600;
/** How long a question is in flight at most. */
const MAX_STALE_AFTER_MS = 3_000;
/** RFC 2181 §8. */
const MAX_TTL = 2 ** 31 - 1;

/** What is kept of the answers of upstreams. */
export const CACHE_VARIABLES = {
  CACHE_SIZE_MB: integer(1, MAX_CACHE_MB, {
    description: 'Memory for the cache of upstream answers, in MiB.',
    default: '64',
  }),
  CACHE_MIN_TTL: integer(0, MAX_MIN_TTL, {
    description:
      'Minimum time for which an answer is cached, in seconds, even if its TTL is lower. An answer ' +
      'with a TTL of 0 is never cached.',
    default: '0',
  }),
  CACHE_MAX_TTL: optional(
    integer(1, MAX_TTL, {
      description:
        'Maximum TTL of upstream answers, in seconds, in the cache and in answers to clients. It ' +
        'takes precedence over CACHE_MIN_TTL. Unset: no maximum.',
    }),
  ),
  CACHE_STALE_AFTER_MS: integer(0, MAX_STALE_AFTER_MS, {
    description:
      'Time in milliseconds after which a client gets the expired answer from the cache when no ' +
      'upstream has answered (RFC 8767). The upstreams are still asked, for the cache. 0: at once.',
    default: '1800',
  }),
  CACHE_NXDOMAIN_CUT: boolean({
    description:
      'Whether a cached NXDOMAIN also answers queries for all names below that name (RFC 8020). This ' +
      'spares upstreams random subdomains of names that do not exist, but hides names of servers ' +
      'that wrongly deny the parents of existing names.',
    default: 'false',
  }),
} as const;
