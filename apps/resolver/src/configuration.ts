import { MAX_ID } from '@weir/config-model';
import { MAX_ADDRESSES } from '@weir/dns-wire';
import {
  address,
  addressList,
  boolean,
  choice,
  cidrList,
  type Configuration,
  endpointList,
  hexKeyList,
  integer,
  json,
  LOG_LEVELS,
  OPS_VARIABLES,
  optional,
  port,
  text,
  type ValueSchema,
  type Variable,
  VariableFault,
} from '@weir/ops';
import { FEED_VARIABLES } from '@weir/policy-feed';
import { isIP, isIPv4 } from 'node:net';

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

const MAX_UPSTREAMS = 16;
const MAX_BLOCK_TTL = 86_400;
const MAX_CACHE_MB = 4096;
const MAX_MIN_TTL = 3600;
/** RFC 2181 §8. */
const MAX_TTL = 2 ** 31 - 1;
const MAX_RATE = 1_000_000;
const MAX_CONNECTIONS = 1024;
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

/** What a resolver reads from its environment. */
export const SCHEMA = {
  DNS_HOST: address({
    description: 'Address on which DNS is answered.',
    default: '127.0.0.1',
  }),
  DNS_PORT: port({ description: 'UDP and TCP port of DNS.', default: '5300' }),
  DNS_TLS_PORT: optional(
    port({ description: 'Port of DNS over TLS (RFC 7858), usually 853. Unset: it is not spoken.' }),
  ),
  DNS_HTTPS_PORT: optional(
    port({
      description:
        'Port of DNS over HTTPS (RFC 8484), usually 443, at /dns-query. Unset: it is not spoken.',
    }),
  ),
  DNS_TLS_CERT: optional(
    text('a PEM file', {
      description:
        'Certificate chain for DNS over TLS and HTTPS; read again when it changes, without a restart.',
    }),
  ),
  DNS_TLS_KEY: optional(text('a PEM file', { description: 'Its private key.' })),
  UPSTREAMS: optional(
    atMost(
      MAX_UPSTREAMS,
      endpointList(53, {
        description:
          'Resolvers that are asked for what is permitted: the fastest, and of those that are about as fast the one that stands first. Unset: the nameservers of /etc/resolv.conf.',
      }),
    ),
  ),
  DNS_ALLOWED_CLIENTS: cidrList({
    description:
      'Networks that are served unfiltered where no profile is assigned; all others are refused.',
    default: PRIVATE_NETWORKS.join(','),
  }),
  DNS_PROXY_PROTOCOL_FROM: optional(
    cidrList({
      description:
        'Load balancers that must begin each UDP query and each connection with a PROXY protocol v2 header, which tells address and port of their client; without one nothing of theirs is answered. From others such a header is not believed. Unset: none.',
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
    `a JSON object of block page ids and their addresses, at most ${MAX_ADDRESSES} a family, such as {"7":["192.0.2.7","2001:db8::7"]}`,
    readPageAddresses,
    {
      description: 'Block pages with addresses of their own.',
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
      'Seconds that an answer is kept at least, whatever its TTL; one with a TTL of 0 is never kept.',
    default: '0',
  }),
  CACHE_MAX_TTL: optional(
    integer(1, MAX_TTL, {
      description:
        'Highest TTL, in seconds, that an answer is kept or handed on with; it counts more than CACHE_MIN_TTL. Unset: as the upstream says.',
    }),
  ),
  INSPECT_CNAME: boolean({
    description:
      'Whether the targets of CNAME, HTTPS and SVCB records are judged like the queried name.',
    default: 'true',
  }),
  CLIENT_QUERY_RATE: integer(0, MAX_RATE, {
    description:
      'Queries that one subscriber gets answered in a second; more are dropped. A subscriber is a NAPT range, else an IPv4 address, or the IPv6 network of /48 or longer that has a profile, else a /64. 0: any number.',
    default: '0',
  }),
  CLIENT_ERROR_RATE: integer(0, MAX_RATE, {
    description:
      'FORMERR, NOTIMP, BADVERS and REFUSED that one subscriber gets over UDP in a second, so that nobody is flooded with them in the name of others. 0: any number.',
    default: '50',
  }),
  CLIENT_TCP_CONNECTIONS: integer(1, MAX_CONNECTIONS, {
    description: 'TCP connections, those of TLS and HTTPS included, that one subscriber may have.',
    default: '128',
  }),
  DNS_COOKIE_SECRETS: optional(
    hexKeyList(16, 2, {
      description:
        'Secrets of DNS cookies, the same for all resolvers behind one address: the first signs, all are believed. To change it give the new one second, then first, then alone, each for more than an hour. Unset: each process makes its own.',
    }),
  ),
  LOCAL_ZONES: boolean({
    description:
      'Whether names that are nobody’s or everybody’s own are answered here and never asked of an upstream: localhost, test, invalid, local, onion, alt, home.arpa and the reverse zones of private addresses.',
    default: 'true',
  }),
  BLOCK_RESOLVER_DISCOVERY: boolean({
    description:
      'Whether clients are told that there is no other resolver for them, so that browsers and devices do not go round the filter by themselves: use-application-dns.net, mask.icloud.com and mask-h2.icloud.com do not exist and _dns.resolver.arpa is empty, whatever a profile says of them.',
    default: 'true',
  }),
  ...FEED_VARIABLES,
  ...OPS_VARIABLES,
  QUERY_LOG_SAMPLING: integer(0, MAX_SAMPLING, {
    description:
      'One answered query in so many is logged on standard output, without the client: 1 all, 0 none. When the reader is too slow lines are lost and counted, queries do not wait.',
    default: '0',
  }),
  QUERY_LOG_NAMES: boolean({
    description:
      'Whether the query log shows the names that were asked for; otherwise it has their hashes under DOMAIN_HASH_KEY, as the management API has them.',
    default: 'false',
  }),
  LOG_LEVEL: choice(LOG_LEVELS, {
    description: 'Least severe level that is logged.',
    default: 'info',
  }),
} as const;

export type ResolverConfiguration = Configuration<typeof SCHEMA>;

function atMost<T>(most: number, list: Variable<readonly T[]>): Variable<readonly T[]> {
  const parse = (text: string): readonly T[] => {
    const items = list.parse(text);
    if (items.length > most) throw new VariableFault(`at most ${most}`);
    return items;
  };
  return { ...list, valueSchema: { ...list.valueSchema, maxItems: most }, parse };
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
