import { hexKeyList, integer, optional, cidrList, text } from '@weir/ops';

const MAX_RATE = 1_000_000;
const MAX_BYTE_RATE = 2 ** 30;
const MAX_CONNECTIONS = 1024;
const MAX_UNREAD_MB = 4096;
const MAX_ALL_CONNECTIONS = 65_536;
/** All that can be in flight, and all that can wait: then one subscriber may have everything. */
const MAX_UPSTREAM_QUERIES = 8192;
const MAX_WAITING_QUERIES = 16_384;

/** What one subscriber, all of them together, and one zone may use. */
export const LIMIT_VARIABLES = {
  CLIENT_QUERY_RATE: integer(0, MAX_RATE, {
    description:
      'Maximum number of queries per second that one subscriber gets answers to; more are dropped. ' +
      'A subscriber is a NAPT range, else the network with a profile if it is /24 or longer (IPv6: /48), else an ' +
      'IPv4 address or an IPv6 /56. 0: no limit.',
    default: '0',
  }),
  CLIENT_ERROR_RATE: integer(0, MAX_RATE, {
    description:
      'Maximum number of FORMERR, NOTIMP, BADVERS and REFUSED answers per second to one subscriber ' +
      'over UDP. It protects the owners of spoofed source addresses. 0: no limit.',
    default: '50',
  }),
  CLIENT_UDP_BYTE_RATE: integer(0, MAX_BYTE_RATE, {
    description:
      'Maximum number of bytes per second that one subscriber gets in UDP answers that are more than twice as large ' +
      'as their queries. Such answers beyond it are truncated, so that the client comes back over TCP. It protects ' +
      'the owners of spoofed source addresses; clients with a valid DNS cookie are exempt. An address that many ' +
      'share without port ranges needs more than the default. 0: no limit.',
    default: '262144',
  }),
  CLIENT_TCP_CONNECTIONS: integer(1, MAX_CONNECTIONS, {
    description: 'Maximum number of TCP connections of one subscriber, including TLS and HTTPS.',
    default: '128',
  }),
  CLIENT_TLS_HANDSHAKE_RATE: integer(0, MAX_RATE, {
    description:
      'Maximum number of TLS handshakes per second of one subscriber, for DNS over TLS and HTTPS together. ' +
      'Connections over it are closed before the handshake, which costs much computing time. 0: no limit.',
    default: '50',
  }),
  DNS_TCP_CONNECTIONS: integer(1, MAX_ALL_CONNECTIONS, {
    description:
      'Maximum number of TCP connections of all subscribers together, including TLS and HTTPS, on all ' +
      'addresses. When half of them are in use, idle ones are closed earlier. When all are, the subscriber with ' +
      'the most loses one. Clients that are not served have an eighth of them together. Where several threads serve ' +
      'connections (RESOLVER_THREADS), each has an equal part. The process needs a limit of open files above it.',
    default: '4096',
  }),
  DNS_TCP_UNREAD_MB: integer(1, MAX_UNREAD_MB, {
    description:
      'Memory for answers that clients do not read from their TCP, TLS and HTTPS connections, and for HTTPS requests ' +
      'that are not over, all together, in MiB. Beyond it the connections with the most of it are closed. One ' +
      'connection has at most half a MiB. Where several threads serve connections (RESOLVER_THREADS), each has an ' +
      'equal part, at least half a MiB.',
    default: '64',
  }),
  CLIENT_UPSTREAM_QUERIES: integer(1, MAX_UPSTREAM_QUERIES, {
    description:
      'Maximum number of questions of one subscriber that are in flight to upstreams, in each thread that asks them ' +
      '(RESOLVER_THREADS). Beyond it the subscriber gets SERVFAIL with EDE 0 for names that are not in the cache; ' +
      'other subscribers are answered. A question is in flight for some milliseconds, or for three seconds when ' +
      'nobody answers it. While a thread has more than half of what it takes (8192, less with more than one of ' +
      'RESOLVER_THREADS), it is less: what is left, divided by the number of subscribers that ask.',
    default: '256',
  }),
  ZONE_UPSTREAM_QUERIES: integer(0, MAX_UPSTREAM_QUERIES, {
    description:
      'Maximum number of questions without an answer about names below a domain of two labels, in each thread that ' +
      'asks upstreams; an eighth less for each further label. An answer takes eight away. Beyond it clients get ' +
      'SERVFAIL with EDE 22 at once, except for a few questions a second that find out whether there are answers ' +
      'again. So a zone whose name servers are dead leaves room for others. 0: no limit.',
    default: '1024',
  }),
  CLIENT_WAITING_QUERIES: integer(1, MAX_WAITING_QUERIES, {
    description:
      'Maximum number of queries of one subscriber that wait for a question which is in flight already, in each ' +
      'thread that asks upstreams. Beyond it the subscriber gets SERVFAIL with EDE 0. While more than half of what ' +
      'a thread takes (16384 or less) wait, it is less in the same way.',
    default: '1024',
  }),
  DNS_COOKIE_SECRETS: optional(
    hexKeyList(16, 2, {
      description:
        'Secrets for DNS cookies, the same for all resolvers behind one address. The first one signs; ' +
        'all are accepted. To change the secret, add the new one in second place, then move it to ' +
        'first place, then remove the old one. Wait more than an hour between these steps. Unset: ' +
        'each process creates its own secret.',
    }),
  ),
} as const;

/** Who is served, and through which load balancers. */
export const CLIENT_VARIABLES = {
  DNS_ALLOWED_CLIENTS_FILE: optional(
    text('a file of networks', {
      description:
        'File that takes the place of DNS_ALLOWED_CLIENTS: one network a line, # begins a comment. A changed ' +
        'file is used within ten seconds, without a restart. A bad one, or one without any network, is logged ' +
        'and changes nothing; at the start it ends the process.',
    }),
  ),
  DNS_PROXY_PROTOCOL_FROM: optional(
    cidrList({
      description:
        'Load balancers. They must send a PROXY protocol v2 header with the address and port of the ' +
        'client before each UDP query and at the start of each connection. Without it they get no ' +
        'answer. The header of any other sender is not accepted. Unset: none.',
    }),
  ),
} as const;
