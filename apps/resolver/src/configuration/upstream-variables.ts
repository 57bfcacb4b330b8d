import { atMost, boolean, upstreamList, integer, optional, text } from '@weir/ops';

const MAX_UPSTREAMS = 16;
const MAX_UPSTREAM_PORTS = 1024;

/** The upstream resolvers, and how they are asked. */
export const UPSTREAM_VARIABLES = {
  UPSTREAMS: optional(
    atMost(
      MAX_UPSTREAMS,
      upstreamList(53, {
        description:
          'Resolvers to which permitted queries are forwarded. The fastest is used; among resolvers of ' +
          'similar latency, the first in this list. They are probed with queries for the name servers of ' +
          'the root, which they must answer, if only with an error. With tls:// a resolver is asked over TLS (RFC ' +
          '7858), and only if its certificate has the name after #, or its public key has the pin: SHA-256 of its ' +
          'SubjectPublicKeyInfo. It is never asked in clear text. Unset: the nameservers of /etc/resolv.conf.',
      }),
    ),
  ),
  UPSTREAM_PORTS: integer(1, MAX_UPSTREAM_PORTS, {
    description:
      'Number of UDP ports from which each thread asks each upstream, chosen at random for each query. Each is ' +
      'replaced by another after 20 to 40 seconds, after 4096 queries, or a second after the upstream could not be ' +
      'reached from it. More ports make answers harder to forge. All upstreams together use at most a quarter of the ' +
      'files that the process may open.',
    default: '64',
  }),
  UPSTREAM_TLS_CA: optional(
    text('a PEM file', {
      description:
        'Certificate authorities that may sign the certificates of upstreams with a name, in place of the public ' +
        'ones that Node.js trusts. Read at the start.',
    }),
  ),
  UPSTREAM_TRUST_AD: optional(
    atMost(
      MAX_UPSTREAMS,
      upstreamList(53, {
        description:
          'Those of UPSTREAMS whose AD bit is passed on: they validate DNSSEC, and nobody can change their answers ' +
          'on the way (RFC 4035 §3.2.3), for example because they run on this machine. AD of upstreams over TLS is ' +
          'passed on anyway, that of all others is cleared.',
      }),
    ),
  ),
  UPSTREAM_COOKIES: boolean({
    description:
      'Whether upstreams are asked with DNS cookies (RFC 7873), which make answers harder to forge. If an answer has ' +
      'a wrong cookie, or lacks an expected one, the question is asked again over TCP. Turn it off for upstreams ' +
      'that reject unknown EDNS options.',
    default: 'true',
  }),
} as const;

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
