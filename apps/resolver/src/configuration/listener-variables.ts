import { integer, listenAddressList, needs, optional, port, text } from '@weir/ops';
import { domain, printable, serverId } from './value-kinds.js';

const MAX_HOSTS = 16;
export const MAX_THREADS = 64;

/** Where and how a resolver listens, and how it names itself. */
export const LISTENER_VARIABLES = {
  DNS_HOST: listenAddressList(MAX_HOSTS, {
    description:
      'Addresses on which DNS queries are answered: over UDP, TCP, TLS and HTTPS, on the same ports. 0.0.0.0 and ' +
      ':: stand for all addresses of the machine; an answer comes from the address that was asked. The address :: ' +
      'alone also takes IPv4; beside an IPv4 address it takes only IPv6.',
    default: '127.0.0.1',
  }),
  DNS_PORT: port({ description: 'UDP and TCP port for DNS.', default: '5300' }),
  RESOLVER_THREADS: optional(
    integer(1, MAX_THREADS, {
      description:
        'Threads that answer UDP queries, from memory or from upstreams. Each uses up to one core; those that the ' +
        'load does not need are parked. Queries over TCP, TLS and HTTPS have one more thread, or as many more where ' +
        'DNS_TLS_PORT or DNS_HTTPS_PORT is set; changes have another one. Unset: one for each core but one, and at ' +
        'least one.',
    }),
  ),
  UDP_NAP_US: integer(0, 2_000, {
    description:
      'How long, in microseconds, a thread of RESOLVER_THREADS naps after it has answered four or more queries ' +
      'together and none is left, so that more arrive together. While it waits for upstreams, it naps when queries ' +
      'or answers come every millisecond. It saves processor time, and adds to the latency under load: as much to ' +
      'that of an answer from memory, up to twice as much to that of one from upstream. 0: never.',
    default: '200',
  }),
  DNS_TLS_PORT: optional(
    needs(
      'DNS_TLS_CERT',
      port({
        description: 'Port for DNS over TLS (RFC 7858), usually 853. Unset: DNS over TLS is off.',
      }),
    ),
  ),
  DNS_HTTPS_PORT: optional(
    needs(
      'DNS_TLS_CERT',
      port({
        description:
          'Port for DNS over HTTPS (RFC 8484), usually 443. The path is /dns-query. Unset: DNS over ' +
          'HTTPS is off.',
      }),
    ),
  ),
  DNS_TLS_CERT: optional(
    needs(
      'DNS_TLS_KEY',
      text('a PEM file', {
        description:
          'Certificate chain for DNS over TLS and HTTPS. A changed file is loaded without a restart.',
      }),
    ),
  ),
  DNS_TLS_KEY: optional(
    needs('DNS_TLS_CERT', text('a PEM file', { description: 'Private key of DNS_TLS_CERT.' })),
  ),
  DNS_DESIGNATED_NAME: optional(
    domain({
      description:
        'Name of this resolver for encrypted DNS (RFC 9462). Clients that ask for the SVCB records of ' +
        '_dns.resolver.arpa are told to use DNS over TLS and HTTPS under this name, on the ports of this ' +
        'resolver, or those of DNS_DESIGNATED_TLS_PORT and DNS_DESIGNATED_HTTPS_PORT. Its certificate must hold ' +
        'this name and the addresses that clients ask. Unset: they are told that there is none.',
    }),
  ),
  DNS_DESIGNATED_TLS_PORT: optional(
    port({
      description:
        'Port at which clients reach DNS over TLS, where that is not DNS_TLS_PORT: behind a Service, a published ' +
        'port of a container or a load balancer. It is named in the SVCB records.',
    }),
  ),
  DNS_DESIGNATED_HTTPS_PORT: optional(
    port({
      description:
        'Port at which clients reach DNS over HTTPS, where that is not DNS_HTTPS_PORT. It is named in the SVCB ' +
        'records.',
    }),
  ),
  RESOLVER_NAME: optional(
    printable(100, {
      description:
        'Name of this resolver for the control plane. It stays the same over a restart, and no other resolver that ' +
        'runs has it: one that was killed and is back under its name counts once in X-Config-Applied. Two that claim ' +
        'one name both count, and the control plane logs it. Unset: host name and DNS_PORT, such as dns-1:5300. Set ' +
        'it where the host name changes, as that of a container does that is made anew.',
    }),
  ),
  DNS_SERVER_ID: optional(
    serverId({
      description:
        'Identity of this resolver, by which operators tell resolvers behind one address apart. Clients that are ' +
        'served get it as id.server and hostname.bind (class CH, type TXT), and everybody who asks with the option ' +
        'NSID (RFC 5001). The word hostname stands for the host name of the machine or container. Unset: these ' +
        'queries are refused, and the option is ignored.',
    }),
  ),
} as const;
