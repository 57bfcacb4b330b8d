import { MAX_ADDRESSES } from '@weir/dns-wire';
import { addressList, boolean, integer, json } from '@weir/ops';
import { PAGE_ADDRESSES, readPageAddresses } from './page-addresses.js';
import { atMost, domainList } from './value-kinds.js';

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
