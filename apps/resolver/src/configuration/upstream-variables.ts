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
      'Number of UDP ports from which each upstream is asked, chosen at random for each query. Each is replaced ' +
      'by another after 20 to 40 seconds, or after 4096 queries. More ports make answers harder to forge. All ' +
      'upstreams together use at most a quarter of the files that the process may open.',
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
