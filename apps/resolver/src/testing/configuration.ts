import { CidrSet } from '@weir/ops';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import type { DnsConfiguration } from '../dns-service.js';

export const CONFIGURATION: DnsConfiguration = {
  BLOCK_PAGE_ADDRESSES: new Map([[7, ['192.0.2.7']]]),
  BLOCK_PAGE_IPV4: ['192.0.2.80'],
  BLOCK_PAGE_IPV6: ['2001:db8::80'],
  BLOCK_RESOLVER_DISCOVERY: true,
  BLOCK_TTL: 10,
  CACHE_MAX_TTL: undefined,
  CACHE_MIN_TTL: 0,
  CACHE_SIZE_MB: 1,
  CLIENT_ERROR_RATE: 0,
  CLIENT_QUERY_RATE: 0,
  CLIENT_TCP_CONNECTIONS: 128,
  CLIENT_UPSTREAM_QUERIES: 256,
  CLIENT_WAITING_QUERIES: 1024,
  DNS_ALLOWED_CLIENTS: CidrSet.parse(['192.0.2.0/24']),
  DNS_COOKIE_SECRETS: ['e5e973e5a6b2a43f48e7dc849e37bfcf'],
  DNS_HOST: '127.0.0.1',
  DNS_PORT: 0,
  DNS_PROXY_PROTOCOL_FROM: undefined,
  DNS_HTTPS_PORT: undefined,
  DNS_TLS_CERT: undefined,
  DNS_TLS_KEY: undefined,
  DNS_TLS_PORT: undefined,
  DOMAIN_HASH_KEY: HASH_KEY_HEX,
  INSPECT_CNAME: true,
  LOCAL_ZONES: true,
  QUERY_LOG_NAMES: false,
  QUERY_LOG_SAMPLING: 0,
};
