import { MAX_ID } from '@weir/config-model';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import { MAX_ADDRESSES } from '@weir/dns-wire';
import {
  addressList,
  boolean,
  choice,
  cidrList,
  type Configuration,
  upstreamList,
  hexKeyList,
  integer,
  json,
  listenAddressList,
  LOG_LEVELS,
  OPS_CALL_VARIABLES,
  OPS_VARIABLES,
  optional,
  port,
  text,
  type ValueSchema,
  type Variable,
  VariableFault,
  type VariableOptions,
} from '@weir/ops';
import { FEED_VARIABLES } from '@weir/policy-feed';
import { TELEMETRY_VARIABLES } from '@weir/telemetry';
import { isIP, isIPv4 } from 'node:net';
import { hostname } from 'node:os';

/** Loopback, private, shared (RFC 6598) and unique local networks (decisions §7). */
const PRIVATE_NETWORKS = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
];

const MAX_HOSTS = 16;
const MAX_THREADS = 64;
const MAX_UPSTREAMS = 16;
const MAX_UPSTREAM_PORTS = 1024;
const MAX_BLOCK_TTL = 86_400;
const MAX_CACHE_MB = 4096;
const MAX_MIN_TTL = 3600;
/** How long a question is in flight at most. */
const MAX_STALE_AFTER_MS = 3_000;
/** RFC 2181 §8. */
const MAX_TTL = 2 ** 31 - 1;
const MAX_RATE = 1_000_000;
const MAX_BYTE_RATE = 2 ** 30;
const MAX_CONNECTIONS = 1024;
const MAX_UNREAD_MB = 4096;
const MAX_ALL_CONNECTIONS = 65_536;
/** All that can be in flight, and all that can wait: then one subscriber may have everything. */
const MAX_UPSTREAM_QUERIES = 8192;
const MAX_WAITING_QUERIES = 16_384;
const MAX_METRICS_PROFILES = 10_000;
const MAX_SAMPLING = 1_000_000;

const PAGE_ADDRESSES: ValueSchema = {
  type: 'object',
  additionalProperties: false,
  patternProperties: {
    '^(?:0|[1-9][0-9]{0,9})$': {
      type: 'array',
      items: { type: 'string', pattern: '^[0-9a-fA-F:.]+$' },
      minItems: 1,
      maxItems: 2 * MAX_ADDRESSES,
    },
  },
};

/** The environment variables of a resolver. */
export const SCHEMA = {
  DNS_HOST: listenAddressList(MAX_HOSTS, {
    description:
      'Addresses on which DNS queries are answered: over UDP, TCP, TLS and HTTPS, on the same ports. 0.0.0.0 and ' +
      ':: stand for all addresses of the machine, of which up to 64 have a UDP socket of their own, so that an ' +
      'answer comes from the address that was asked; an added address has it within five seconds. The address :: ' +
      'alone also takes IPv4; beside an IPv4 address it takes only IPv6.',
    default: '127.0.0.1',
  }),
  DNS_PORT: port({ description: 'UDP and TCP port for DNS.', default: '5300' }),
  RESOLVER_THREADS: optional(
    integer(0, MAX_THREADS, {
      description:
        'Threads that answer UDP queries from memory, on Linux on x64 and arm64, besides the one that does all else. ' +
        'Each uses up to one core. 0: one thread does everything, one packet at a time. Unset: one for each core but ' +
        'one, and at least one.',
    }),
  ),
  UDP_NAP_US: integer(0, 2_000, {
    description:
      'How long, in microseconds, a thread of RESOLVER_THREADS naps after it has answered four or more queries ' +
      'together and none is left, so that more arrive together. It saves processor time, and adds as much to the ' +
      'latency under load. 0: never.',
    default: '200',
  }),
  DNS_TLS_PORT: optional(
    port({
      description: 'Port for DNS over TLS (RFC 7858), usually 853. Unset: DNS over TLS is off.',
    }),
  ),
  DNS_HTTPS_PORT: optional(
    port({
      description:
        'Port for DNS over HTTPS (RFC 8484), usually 443. The path is /dns-query. Unset: DNS over ' +
        'HTTPS is off.',
    }),
  ),
  DNS_TLS_CERT: optional(
    text('a PEM file', {
      description:
        'Certificate chain for DNS over TLS and HTTPS. A changed file is loaded without a restart.',
    }),
  ),
  DNS_TLS_KEY: optional(text('a PEM file', { description: 'Private key of DNS_TLS_CERT.' })),
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
    port({ description: 'The same for DNS over HTTPS, where that is not DNS_HTTPS_PORT.' }),
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
  UPSTREAM_COOKIES: boolean({
    description:
      'Whether upstreams are asked with DNS cookies (RFC 7873), which make answers harder to forge. If an answer has ' +
      'a wrong cookie, or lacks an expected one, the question is asked again over TCP. Turn it off for upstreams ' +
      'that reject unknown EDNS options.',
    default: 'true',
  }),
  UPSTREAM_0X20: boolean({
    description:
      'Whether the letters of each question to an upstream get a random case, which the answer must have too ' +
      '(draft-vixie-dnsext-dns0x20). After an answer in another case, the question is asked again over TCP. An ' +
      'upstream that changes the case there too may do so for five minutes.',
    default: 'false',
  }),
  DNS_ALLOWED_CLIENTS: cidrList({
    description:
      'Networks whose clients are served unfiltered when no profile is assigned to them. Other ' +
      'clients without a profile are refused.',
    default: PRIVATE_NETWORKS.join(','),
  }),
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
  BLOCK_PAGE_IPV4: atMost(
    MAX_ADDRESSES,
    addressList(4, {
      description: 'IPv4 addresses of the default block page.',
      default: '127.0.0.1',
    }),
  ),
  BLOCK_PAGE_IPV6: atMost(
    MAX_ADDRESSES,
    addressList(6, { description: 'IPv6 addresses of the default block page.', default: '::1' }),
  ),
  BLOCK_PAGE_ADDRESSES: json(
    `a JSON object of block page ids and their addresses, at most ${MAX_ADDRESSES} per family, ` +
      'such as {"7":["192.0.2.7","2001:db8::7"]}',
    readPageAddresses,
    {
      description: 'Addresses of block pages that have addresses of their own, by block page id.',
      default: '{}',
      valueSchema: PAGE_ADDRESSES,
    },
  ),
  BLOCK_TTL: integer(0, MAX_BLOCK_TTL, {
    description: 'TTL of the answer for a blocked name, in seconds.',
    default: '10',
  }),
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
  INSPECT_CNAME: boolean({
    description: 'Whether the filter also applies to the targets of CNAME, HTTPS and SVCB records.',
    default: 'true',
  }),
  CLIENT_QUERY_RATE: integer(0, MAX_RATE, {
    description:
      'Maximum number of queries per second that one subscriber gets answers to; more are dropped. ' +
      'A subscriber is a NAPT range or an IPv4 address. For IPv6 it is the network of /48 or longer ' +
      'that has a profile, else a /64. 0: no limit.',
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
      'Maximum number of bytes per second that one subscriber gets in UDP answers of more than 512 bytes. ' +
      'Larger answers beyond it are truncated, so that the client comes back over TCP. It protects the owners of ' +
      'spoofed source addresses; clients with a valid DNS cookie are exempt. 0: no limit.',
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
      'addresses. When half of them are in use, idle ones are closed earlier. The process needs a limit of ' +
      'open files above it.',
    default: '4096',
  }),
  DNS_TCP_UNREAD_MB: integer(1, MAX_UNREAD_MB, {
    description:
      'Memory for answers that clients do not read from their TCP, TLS and HTTPS connections, all together, in MiB. ' +
      'Beyond it the connections with the most of them are closed. One connection has at most half a MiB.',
    default: '64',
  }),
  CLIENT_UPSTREAM_QUERIES: integer(1, MAX_UPSTREAM_QUERIES, {
    description:
      'Maximum number of questions of one subscriber that are in flight to upstreams. Beyond it the ' +
      'subscriber gets SERVFAIL with EDE 0 for names that are not in the cache; other subscribers ' +
      'are answered. A question is in flight for some milliseconds, or for three seconds when ' +
      'nobody answers it.',
    default: '256',
  }),
  ZONE_UPSTREAM_QUERIES: integer(0, MAX_UPSTREAM_QUERIES, {
    description:
      'Maximum number of questions about names below a domain of two labels since the last answer to any ' +
      'of them; an eighth less for each further label. Beyond it clients get SERVFAIL with EDE 22 at once, ' +
      'but for a few questions a second that find out whether there are answers again. So a zone whose name ' +
      'servers are dead leaves room for others. 0: no limit.',
    default: '1024',
  }),
  CLIENT_WAITING_QUERIES: integer(1, MAX_WAITING_QUERIES, {
    description:
      'Maximum number of queries of one subscriber that wait for a question which is in flight ' +
      'already. Beyond it the subscriber gets SERVFAIL with EDE 0.',
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
  LOCAL_RECORDS: optional(
    text('a zone file', {
      description:
        'Zone file (RFC 1035 §5) with records of your own, for every client that is served: they come before ' +
        'policy, cache and upstreams. A name of the file has no other records; all other names are resolved as ' +
        'usual. The target of a CNAME record may be any name, and is judged by the profile. A changed file is ' +
        'used within ten seconds, without a restart. A bad one is refused whole, logged with the number of the ' +
        'line, and changes nothing; at the start it ends the process. At most 1 MiB and 10,000 records.',
    }),
  ),
  LOCAL_ZONES: boolean({
    description:
      'Whether special-use names are answered here and never sent to an upstream: localhost, test, ' +
      'invalid, local, onion, alt, home.arpa and the reverse zones of private addresses.',
    default: 'true',
  }),
  BLOCK_RESOLVER_DISCOVERY: boolean({
    description:
      'Whether clients are kept from switching to another resolver, which would bypass the filter. ' +
      'use-application-dns.net, mask.icloud.com and mask-h2.icloud.com do not exist, and ' +
      '_dns.resolver.arpa is empty (without DNS_DESIGNATED_NAME), whatever the profile says.',
    default: 'true',
  }),
  ...FEED_VARIABLES,
  ...OPS_VARIABLES,
  ...OPS_CALL_VARIABLES,
  ...TELEMETRY_VARIABLES,
  METRICS_PROFILES: integer(0, MAX_METRICS_PROFILES, {
    description:
      'Number of profiles whose queries are counted one by one in the metrics: the first that are active for a ' +
      'query; all others share the label other. Each profile has up to ten time series for each resolver. 0: ' +
      'queries are not counted by profile.',
    default: '0',
  }),
  QUERY_LOG_SAMPLING: integer(0, MAX_SAMPLING, {
    description:
      'One of this many answered queries is logged on standard output, without the client. 1: every ' +
      'query. 0: none. When the reader of the log is too slow, lines are dropped and counted; ' +
      'queries never wait.',
    default: '0',
  }),
  QUERY_LOG_NAMES: boolean({
    description:
      'Whether the query log contains the queried names, and the list of failing domains their names. ' +
      'Otherwise they contain hashes under DOMAIN_HASH_KEY, as in the management API.',
    default: 'false',
  }),
  DNSTAP_ENDPOINT: optional(
    receiver({
      description:
        'dnstap receiver to which answered queries are sent, as CLIENT_QUERY and CLIENT_RESPONSE. Frames that find ' +
        'no connection or a slow receiver are lost and counted; queries never wait. Unset: dnstap is off.',
    }),
  ),
  DNSTAP_SAMPLING: integer(1, MAX_SAMPLING, {
    description:
      'One of this many answered queries is sent to the dnstap receiver. 1: every query.',
    default: '1',
  }),
  DNSTAP_NAMES: boolean({
    description:
      'Whether dnstap messages contain the queried names and the records of answers. Otherwise the name is ' +
      '<hash>.invalid, with the hash of the query log, and there are no records.',
    default: 'false',
  }),
  DNSTAP_ADDRESSES: boolean({
    description: 'Whether dnstap messages contain the address and port of the client.',
    default: 'false',
  }),
  LOG_LEVEL: choice(LOG_LEVELS, {
    description: 'Lowest severity that is logged.',
    default: 'info',
  }),
} as const;

export type ResolverConfiguration = Configuration<typeof SCHEMA>;

function domain(options: VariableOptions): Variable<string> {
  const parse = (name: string): string => {
    try {
      return normaliseDomain(name);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw new VariableFault();
    }
  };
  return { ...text('a domain name such as dns.example.net', options), parse };
}

/** Where a receiver listens, as `net.connect` takes it. */
export type ReceiverEndpoint =
  { readonly path: string } | { readonly host: string; readonly port: number };

const UNIX_RECEIVER = /^unix:(\/\S+)$/;
const TCP_RECEIVER = /^tcp:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/;
const MAX_PORT = 65_535;

function receiver(options: VariableOptions): Variable<ReceiverEndpoint> {
  const parse = (value: string): ReceiverEndpoint => {
    const path = UNIX_RECEIVER.exec(value)?.[1];
    if (path !== undefined) return { path };
    const [, ipv6, host = ipv6, digits] = TCP_RECEIVER.exec(value) ?? [];
    const port = Number(digits);
    if (host === undefined || !(port >= 1 && port <= MAX_PORT)) throw new VariableFault();
    return { host, port };
  };
  return {
    description: options.description,
    default: options.default,
    allowed: 'unix:/path or tcp://host:port',
    secret: false,
    valueSchema: { type: 'string', pattern: '^(?:unix:/|tcp://)\\S+$' },
    parse,
  };
}

function serverId(options: VariableOptions): Variable<string> {
  const parse = (value: string): string => {
    const id = value === 'hostname' ? hostname() : value;
    if (!/^[!-~]{1,63}$/.test(id)) throw new VariableFault();
    return id;
  };
  return { ...text('1 to 63 printable ASCII characters without spaces', options), parse };
}

function atMost<T>(maxItems: number, list: Variable<readonly T[]>): Variable<readonly T[]> {
  const parse = (text: string): readonly T[] => {
    const items = list.parse(text);
    if (items.length > maxItems) throw new VariableFault(`at most ${maxItems}`);
    return items;
  };
  return { ...list, valueSchema: { ...list.valueSchema, maxItems }, parse };
}

function readPageAddresses(value: unknown): ReadonlyMap<number, readonly string[]> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new VariableFault();
  }
  return new Map(
    Object.entries(value).map(([id, addresses]) => [readPageId(id), readAddresses(id, addresses)]),
  );
}

function readPageId(text: string): number {
  const id = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
  if (!(id <= MAX_ID)) throw new VariableFault(`"${text.slice(0, 20)}" is not a block page id`);
  return id;
}

function readAddresses(id: string, value: unknown): readonly string[] {
  const isAddress = (one: unknown): one is string =>
    typeof one === 'string' && isIP(one) !== 0 && !one.includes('%');
  if (!Array.isArray(value) || value.length === 0 || !value.every(isAddress)) {
    throw new VariableFault(`page ${id} needs a list of addresses`);
  }
  const ipv4Count = value.filter((one) => isIPv4(one)).length;
  if (Math.max(ipv4Count, value.length - ipv4Count) > MAX_ADDRESSES) {
    throw new VariableFault(`page ${id} has more than ${MAX_ADDRESSES} addresses of one family`);
  }
  return value;
}
