import { MAX_ID } from '@weir/config-model';
import { MAX_ADDRESSES } from '@weir/dns-wire';
import {
  addressList,
  boolean,
  integer,
  json,
  type ValueSchema,
  VariableFault,
  optional,
  text,
} from '@weir/ops';
import { isIP, isIPv4 } from 'node:net';
import { atMost, domainList } from './value-kinds.js';

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

const MAX_BLOCK_TTL = 86_400;

/** What is answered for blocked names. */
export const FILTER_VARIABLES = {
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
  INSPECT_CNAME: boolean({
    description: 'Whether the filter also applies to the targets of CNAME, HTTPS and SVCB records.',
    default: 'true',
  }),
  BLOCK_REBINDING: boolean({
    description:
      'Whether clients with a profile get no private addresses in the answers of upstreams: loopback, private, ' +
      'shared (100.64.0.0/10), link-local and unique local ones, by which a website could reach devices in the ' +
      'network of its visitor (DNS rebinding). Local records and block pages are not affected. New installations ' +
      'turn it on.',
    default: 'false',
  }),
  REBINDING_ALLOWED_ZONES: domainList({
    description:
      'Domains whose names, and all below them, may have private addresses although BLOCK_REBINDING is on: your own ' +
      'services with such addresses, plex.direct, lists that mail servers ask (DNSBL).',
    default: 'home.arpa,internal,local',
  }),
} as const;

/** Names that are answered without an upstream. */
export const LOCAL_ANSWER_VARIABLES = {
  LOCAL_RECORDS: optional(
    text('a YAML file', {
      description:
        'YAML file with records of your own, for every client that is served: they come before policy, ' +
        'cache and upstreams. A name of the file has no other records; all other names are resolved as ' +
        'usual. The target of a CNAME record may be any name, and is judged by the profile. A changed file is ' +
        'used within ten seconds, without a restart. A bad one is refused whole, logged with the number of the ' +
        'line, and changes nothing; at the start it ends the process. At most 256 KiB and 1,000 records.',
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
} as const;
