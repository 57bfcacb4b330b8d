import { MAX_ID } from '@weir/config-model';
import { MAX_ADDRESSES } from '@weir/dns-wire';
import {
  addressFamily,
  addressList,
  atMost,
  boolean,
  cidrList,
  type Configuration,
  DEPLOYMENT_VARIABLES,
  hexKey,
  integer,
  json,
  matching,
  optional,
  text,
  timeZone,
  url,
  type ValueSchema,
  VariableFault,
} from '@weir/ops';

/** The variables of a process that follows the configuration: a part of its schema. */
export const FEED_VARIABLES = {
  SCHEDULE_TIMEZONE: timeZone({
    description: 'Time zone of the times in schedules.',
    default: 'UTC',
  }),
  DOMAIN_HASH_KEY: hexKey(16, {
    description: 'Key for hashing domains. All processes of a deployment have the same one.',
  }),
  REDIS_URL: url(['redis', 'rediss'], { description: 'Redis over which changes are published.' }),
  FEED_URL: url(['http', 'https'], { description: 'URL of the feed API of the control plane.' }),
  FEED_CA: optional(
    text('a PEM file', {
      description:
        'Certificate authorities that may sign the certificate of the feed API, in place of the public ones that ' +
        'Node.js trusts. FEED_URL must begin with https://. A changed file is used within two seconds; a bad one is ' +
        'logged and changes nothing.',
    }),
  ),
  FEED_PINS: optional(
    text('comma-separated pins such as sha256/ and the SHA-256 of a public key in base64', {
      description:
        'The feed API is trusted only if its public key has one of these pins. With FEED_CA its certificate must be ' +
        'signed too; without it the pin is enough. FEED_URL must begin with https://. To replace the key, list both ' +
        'pins.',
    }),
  ),
  ...DEPLOYMENT_VARIABLES,
  DATA_DIR: optional(
    text('a folder', {
      description:
        'Folder in which this process stores its configuration, so that it can start when nothing else can be ' +
        'reached. No other process may use it. Unset: nothing is stored.',
    }),
  ),
  CATCH_UP_GRACE_MS: integer(0, 600_000, {
    description:
      'Longest time in milliseconds that a process which has started from its disk is not ready because it has not ' +
      'caught up with the control plane.',
    default: '5000',
  }),
} as const;

export type FeedConfiguration = Configuration<typeof FEED_VARIABLES>;

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

/** @throws VariableFault */
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
    typeof one === 'string' && addressFamily(one) !== 0;
  if (!Array.isArray(value) || value.length === 0 || !value.every(isAddress)) {
    throw new VariableFault(`page ${id} needs a list of addresses`);
  }
  const ipv4Count = value.filter((one) => addressFamily(one) === 4).length;
  if (Math.max(ipv4Count, value.length - ipv4Count) > MAX_ADDRESSES) {
    throw new VariableFault(`page ${id} has more than ${MAX_ADDRESSES} addresses of one family`);
  }
  return value;
}

const MAX_BLOCK_TTL = 86_400;

/** What clients are answered without an upstream: resolvers answer by it, and the control plane explains by it. */
export const ANSWER_VARIABLES = {
  DNS_ALLOWED_CLIENTS: cidrList({
    description:
      'Networks whose clients are served unfiltered when no profile is assigned to them. Other ' +
      'clients without a profile are refused.',
    default: PRIVATE_NETWORKS.join(','),
  }),
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
  ORDERS_PAGE: optional(
    integer(0, MAX_ID, {
      description:
        'Id of the block page for names that are denied to everybody, by an order or a mandatory ' +
        'category. Unset: the default page.',
    }),
  ),
  BLOCK_TTL: integer(0, MAX_BLOCK_TTL, {
    description: 'TTL of the answer for a blocked name, in seconds.',
    default: '10',
  }),
  BLOCK_EDE_TEXT: boolean({
    description:
      'Whether the Extended DNS Error of a blocked name (RFC 8914) says in words what blocks it, such as ' +
      '"category Gambling". Its code says it in any case: 15, 16 or 17.',
    default: 'true',
  }),
  RESOLVER_INFO_URL: optional(
    matching(/^https:\/\/[!-~]+$/, 247, 'a URL that begins with https://', {
      description:
        'Page on which the provider describes its resolvers, for RESINFO (RFC 9606). Unset: there is none.',
    }),
  ),
  INSPECT_CNAME: boolean({
    description:
      'Whether the filter also applies to the targets of CNAME, HTTPS and SVCB records. Orders and ' +
      'mandatory categories always do.',
    default: 'true',
  }),
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
} as const;

const MAX_NAME_LENGTH = 100;
const SUPPORT = /^(?:https?:\/\/[^\s"<>]+|[^\s@"<>:]+@[^\s@"<>:]+)$/i;
const PHONE = /^(?=.*\d)\+?[\d ()/.-]{3,40}$/;

/** The provider, as subscribers see it: on block pages, and in structured errors of resolvers. */
export const BRAND_VARIABLES = {
  BLOCK_PAGE_BRAND_NAME: optional(
    matching(/^[^\p{Cc}]+$/u, MAX_NAME_LENGTH, 'a name of at most 100 characters', {
      description: 'Name of the provider, on the built-in page and in structured errors.',
    }),
  ),
  BLOCK_PAGE_BRAND_SUPPORT: optional(
    matching(SUPPORT, 300, 'an e-mail address, or a URL that begins with https:// or http://', {
      description: 'Where subscribers get help.',
    }),
  ),
  BLOCK_PAGE_BRAND_PHONE: optional(
    matching(PHONE, 40, 'a phone number such as +44 20 7946 0000', {
      description: 'Phone number at which subscribers get help.',
    }),
  ),
} as const;
